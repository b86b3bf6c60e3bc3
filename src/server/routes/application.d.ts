declare module 'millrace:app' {
  import type { AppDefinition } from '../api/define-app.ts'

  /** The default export of the `app.ts` with which the server is built. */
  const application: AppDefinition
  export default application
}

declare module 'millrace:actions' {
  import type { ActionModules } from './actions/registry.ts'

  /** Every `actions.server.ts` of the application with which the server is built. */
  const actions: ActionModules
  export default actions
}
