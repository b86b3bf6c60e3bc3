/** What references need of the client router. */
export interface ActionCaller {
  /**
   * Calls an action on the page on screen, and gives what `useActionState` is to hold.
   * @param event which has led to it; the one under way, unless told.
   */
  call(id: string, args: readonly unknown[], event?: Event): Promise<unknown>
}

/** The browser's stand-in of an action. */
export interface ActionReference {
  (...args: readonly unknown[]): Promise<unknown>
  readonly actionId: string
}

/** The router of this page. A reference is imported where no context reaches, and a document has one router. */
const page: { caller?: ActionCaller; called?: boolean } = {}

/** Gives the references of this page what they call. */
export function connectActions(caller: ActionCaller): void {
  page.caller = caller
}

/** Whether a module of this page, or of one before, has an action. */
export function hasActions(): boolean {
  return page.called === true
}

/**
 * What the browser has of an action. The build writes these calls in the place of an `actions.server.ts`.
 * @param id as `actionId` makes it.
 */
export function actionReference(id: string): ActionReference {
  page.called = true
  const reference = async (...args: readonly unknown[]): Promise<unknown> => page.caller?.call(id, args)
  return Object.assign(reference, { actionId: id })
}
