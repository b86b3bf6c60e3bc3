/** What the chapter on accounts prints. Its code runs in `tests/http/accounts-recipe.test.ts`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { may } from '../../fixtures/accounts-app/accounts/roles.ts'

const ROOT = join(import.meta.dirname, '../../..')
const PRINTED = [
  'accounts/passwords.server.ts',
  'accounts/users.server.ts',
  'accounts/session.server.ts',
  'accounts/roles.ts',
  'accounts/mail.server.ts',
  'sign-in/actions.server.ts',
  'sign-in/page.tsx',
  'sign-in/reset-page.tsx',
  'oauth/middleware.server.ts',
  'oauth/callback.server.ts',
]

test.for(PRINTED)('prints %s as it is run', (file) => {
  const chapter = readFileSync(join(ROOT, 'docs/accounts.md'), 'utf8')
  const [, code] = new RegExp(`^\`\`\`tsx?\n// src/app/${file}\n(.*?)^\`\`\``, 'ms').exec(chapter) ?? []
  expect(code).toBe(readFileSync(join(ROOT, 'tests/fixtures/accounts-app', file), 'utf8'))
})

test('roles have the rights of their row and no others', () => {
  expect([may('member', 'comment'), may('member', 'publish'), may('editor', 'manage'), may('admin', 'manage')]).toEqual(
    [true, false, false, true],
  )
})
