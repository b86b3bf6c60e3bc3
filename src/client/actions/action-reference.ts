/** The part of the client router that references use. */
export interface ActionCaller {
  /**
   * Calls an action on the page on screen, and returns the next state of `useActionState`.
   * @param event that caused the call; default: the current one.
   */
  call(id: string, args: readonly unknown[], event?: Event): Promise<unknown>
}

/** Replaces an action in the browser. */
export interface ActionReference {
  (...args: readonly unknown[]): Promise<unknown>
  readonly actionId: string
}

/** The router of this page. References are imported outside any React context, and a document has one router. */
const page: { caller?: ActionCaller; called?: boolean } = {}

/** Connects the references of this page to the router. */
export function connectActions(caller: ActionCaller): void {
  page.caller = caller
}

/** Whether a module of this page, or of an earlier one, has an action. */
export function hasActions(): boolean {
  return page.called === true
}

/**
 * Replaces an action in the browser. The build replaces the content of an `actions.server.ts` by these calls.
 * @param id from `actionId`.
 */
export function actionReference(id: string): ActionReference {
  page.called = true
  const reference = async (...args: readonly unknown[]): Promise<unknown> => page.caller?.call(id, args)
  return Object.assign(reference, { actionId: id })
}
