import type { DeclaredAction } from '../server/routes/actions/action.ts'
import type { ActionAdoption } from '../server/routes/actions/registry.ts'

/**
 * The actions that test apps of this process have rendered. One list for all apps, because an action is one object for
 * all of them, and a form of one app may be sent to the next, as after a restart.
 */
export function createTestActions(): ActionAdoption {
  const byId = new Map<string, DeclaredAction>()
  return {
    get: (id) => byId.get(id),
    adopt(action) {
      action.id ??= `test-action-${byId.size + 1}`
      action.name ??= `an action of a test (${action.id})`
      byId.set(action.id, action as DeclaredAction)
    },
  }
}
