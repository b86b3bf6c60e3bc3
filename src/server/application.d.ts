declare module 'millrace:app' {
  import type { AppDefinition } from './api/define-app.ts'

  /** The default export of the `app.ts` that the server is built with. */
  const application: AppDefinition
  export default application
}

declare module 'millrace:actions' {
  import type { ActionModules } from './routes/actions/registry.ts'

  /** Every `actions.server.ts` of the application that the server is built with. */
  const actions: ActionModules
  export default actions
}
