import { expect, test } from 'vitest'
import { wordFaults } from '../../../scripts/checks/plain-words.ts'

const faultsOf = (path: string, ...lines: readonly string[]) => wordFaults([{ path, text: lines.join('\n') }])

test.for([
  ['docs/caching.md', '| `staleSeconds` | 0 unless told |'],
  ['docs/caching.md', '- **Failures.** Who waits gets the error.'],
  ['docs/caching.md', 'Whatever else belongs there is rendered.'],
  ['docs/routes.md', 'An entry without a page is no URL.'],
  ['README.md', 'The page is loaded anew.'],
  ['src/server/app.ts', '// The answer is still under way.'],
  ['src/server/config/config.ts', 'throw new Error(`"${entry}" is no address`)'],
  ['src/server/config/config.ts', "message: 'is no number'"],
  ['bin/help.js', "'the build, dist unless told'"],
] as const)('%s may not say: %s', ([path, line]) => {
  expect(faultsOf(path, '', line)).toEqual([expect.stringMatching(new RegExp(`^${path}:2: ".+"; write `))])
})

test.for([
  ['docs/caching.md', 'Who may do what? Guards decide.'],
  ['docs/caching.md', 'There is no list of pages, and the value is no longer used.'],
  ['docs/caching.md', '| Who waits? | everybody |'],
  ['src/server/app.ts', '/** Who has signed in. */'],
  ['src/server/app.ts', '// What does not decode is no static text.'],
  ['tests/unit/app.test.ts', "test('a folder that is no application, unless told', () => {"],
] as const)('%s may say: %s', ([path, line]) => {
  expect(faultsOf(path, line)).toEqual([])
})
