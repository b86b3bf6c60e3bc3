declare module 'millrace:app' {
  import type { AppDefinition } from './define-app.ts'

  /** The default export of the `app.ts` that the server is built with. */
  const application: AppDefinition
  export default application
}
