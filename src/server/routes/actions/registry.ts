import type { NamedAction } from '../../request/named-action.ts'
import { declaredAction, type DeclaredAction } from './action.ts'
import { actionId } from './action-id.ts'

/** The application's action modules, by their path relative to its folder (`lab/guestbook/actions.server.ts`). */
export type ActionModules = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The actions of an application. */
export interface ActionRegistry {
  /** The action with this id; takes any text that a client may send. */
  get(id: string): DeclaredAction | undefined
}

/** Actions that get their ids while they are rendered, because no build has looked at their modules: in tests. */
export interface ActionAdoption extends ActionRegistry {
  /** Gives the action an id, unless it has one, and knows it from now on. */
  adopt(action: NamedAction): void
}

/**
 * Gives every action its id, which depends only on its place in the source: all builds and instances agree on it.
 * @param adoption knows further actions.
 * @throws {Error} for an export that is not an action, one action under two names, and two actions with one id.
 */
export function createActionRegistry(modules: ActionModules, adoption?: ActionAdoption): ActionRegistry {
  const byId = new Map<string, DeclaredAction>()
  for (const [path, exports] of Object.entries(modules)) {
    for (const [name, value] of Object.entries(exports)) {
      const declared = declaredAction(value)
      if (declared === undefined) throw new Error(`${path}: the export ${name} is not made by action()`)
      const id = actionId(path, name)
      if (declared.id !== undefined && declared.id !== id) {
        throw new Error(`${path}: the action ${name} is exported under another name as well`)
      }
      const other = byId.get(id)
      if (other !== undefined && other !== declared)
        throw new Error(`${path}: another action has the id of ${name}; rename one`)
      declared.id = id
      declared.name = `${path}: ${name}`
      byId.set(id, declared)
    }
  }
  return { get: (id) => byId.get(id) ?? adoption?.get(id) }
}
