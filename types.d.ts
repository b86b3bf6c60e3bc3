/**
 * What an application's sources may import that is no code, and the variables that browser code may read. For `types` of
 * its tsconfig.json: `["millrace/types"]`.
 */
declare module '*.module.css' {
  const classes: Readonly<Record<string, string>>
  export default classes
}

declare module '*.css' {}

declare module '*.module.scss' {
  const classes: Readonly<Record<string, string>>
  export default classes
}

declare module '*.scss' {}

declare module '*.module.sass' {
  const classes: Readonly<Record<string, string>>
  export default classes
}

declare module '*.sass' {}

declare module '*.module.less' {
  const classes: Readonly<Record<string, string>>
  export default classes
}

declare module '*.less' {}

declare module '*.module.styl' {
  const classes: Readonly<Record<string, string>>
  export default classes
}

declare module '*.styl' {}

declare module '*.module.pcss' {
  const classes: Readonly<Record<string, string>>
  export default classes
}

declare module '*.pcss' {}

declare module '*.svg' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.png' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.jpg' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.jpeg' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.gif' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.webp' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.avif' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.ico' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.woff' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.woff2' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.mp3' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.mp4' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.webm' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare module '*.pdf' {
  /** The public URL of the file, with its content's hash. */
  const url: string
  export default url
}

declare namespace NodeJS {
  interface ProcessEnv {
    /** Built into the browser's scripts and the server alike; `undefined` where it was not set at the build. */
    readonly [name: `PUBLIC_${string}`]: string | undefined
  }

  interface Process {
    env: ProcessEnv
  }
}

// As `@types/node` declares it.
// oxlint-disable-next-line no-var
declare var process: NodeJS.Process
