declare module '*.mdx' {
  import type { FunctionComponent } from 'react'

  const Content: FunctionComponent
  export default Content
}
