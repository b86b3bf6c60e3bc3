/** The users of the handbook's chapter on accounts, in two processes. */
import { expect, onTestFinished, test } from 'vitest'
import { usersIn } from '../fixtures/accounts-app/accounts/users.server.ts'
import { makeTempDir } from '../support/temp-dir.ts'

test('makes one account for an identity that two processes add at once, and none of half', async () => {
  const folder = await makeTempDir('users')
  onTestFinished(() => folder.remove())
  const [here, there] = [folder.path, `${folder.path}/.`].map((dataDir) => usersIn({ dataDir }))
  const known = here?.ofIdentity('x', '70')
  // Both have looked before either adds.
  expect([known, there?.ofIdentity('x', '70')]).toEqual([undefined, undefined])
  const user = here?.addIdentity('x', '70', 'two@example.com')
  expect(user?.email).toBe('two@example.com')
  expect(there?.addIdentity('x', '70', 'two@example.com')).toEqual(user)
  expect(there?.addIdentity('x', '71', 'two@example.com')).toBeUndefined()
})
