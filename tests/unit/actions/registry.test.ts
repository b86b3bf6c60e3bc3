import { describe, expect, test } from 'vitest'
import { action, declaredAction } from '../../../src/server/routes/actions/action.ts'
import { actionId } from '../../../src/server/routes/actions/action-id.ts'
import { createActionRegistry } from '../../../src/server/routes/actions/registry.ts'

const make = () => action({ handler: () => undefined })

describe('the registry', () => {
  test('finds an action by module and name, in whatever order the modules come', () => {
    const [save, remove] = [make(), make()]
    const modules = { 'a/actions.server.ts': { save }, 'b/actions.server.ts': { save: remove } }
    for (const entries of [Object.entries(modules), Object.entries(modules).toReversed()]) {
      const registry = createActionRegistry(Object.fromEntries(entries))
      expect(registry.get(actionId('a/actions.server.ts', 'save'))).toBe(declaredAction(save))
      expect(registry.get(actionId('b/actions.server.ts', 'save'))).toBe(declaredAction(remove))
    }
  })

  test.for(['', '__proto__', 'constructor', 'toString', 'x'.repeat(10_000)])('knows nothing of the id %j', (id) => {
    expect(createActionRegistry({ 'actions.server.ts': { save: make() } }).get(id)).toBeUndefined()
  })

  test('refuses an export that is no action, and names it', () => {
    const modules = { 'a/actions.server.ts': { helper: () => undefined } }
    expect(() => createActionRegistry(modules)).toThrow(
      'a/actions.server.ts: the export helper is not made by action()',
    )
  })

  test('refuses one action under two names', () => {
    const save = make()
    expect(() => createActionRegistry({ 'actions.server.ts': { save, store: save } })).toThrow('store')
  })
})
