import { declaredAction } from '../../../src/server/routes/actions/action.ts'

/** Loads the exports of a module with actions. */
export type LoadActions = () => Promise<Readonly<Record<string, unknown>>>

/**
 * Evaluates the modules that declare actions.
 * @param modules by the module's path in the project.
 * @param evaluating called with each module before it is evaluated.
 * @returns the fault of their exports, for the author; `undefined` if there is none.
 */
export async function inspectActions(
  modules: Readonly<Record<string, LoadActions>>,
  evaluating: (source: string) => Promise<void>,
): Promise<string | undefined> {
  const known = new Map<unknown, string>()
  for (const [source, load] of Object.entries(modules)) {
    await evaluating(source)
    for (const [name, value] of Object.entries(await load())) {
      const declared = declaredAction(value)
      const shown = `'${name}' of ${source}`
      if (declared === undefined) {
        return (
          `${shown} is not an action. In the browser each export of an actions.server.ts is a reference to an action: ` +
          'export only results of action({ … }), and types; move everything else to another *.server.ts module.'
        )
      }
      const former = known.get(declared)
      if (former !== undefined) {
        return (
          `${former} and ${shown} are one action, and an action has one id. ` +
          'Export it once, or declare two with action({ … }) that share their handler.'
        )
      }
      known.set(declared, shown)
    }
  }
  return undefined
}
