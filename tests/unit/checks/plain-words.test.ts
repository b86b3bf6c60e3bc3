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
  ['src/server/app.ts', '// The page loads again when this is mended.'],
  ['src/server/app.ts', '// Before all else of it is known.'],
  ['src/server/app.ts', '// It is sent once more.'],
  ['docs/rules.md', 'It redirects for good.'],
  ['src/server/app.ts', '// Pages are told first.'],
  ['src/server/app.ts', '// The system tells of changes.'],
  ['src/server/app.ts', '// Whether the file is another one.'],
  ['src/server/app.ts', '// Sent where there is room.'],
  ['src/server/app.ts', '/** What stands around every page. */'],
  ['docs/security.md', 'A cache that goes by a header.'],
  ['src/server/app.ts', '// The value is handed over.'],
  ['src/server/app.ts', '/** Hears of each start. */'],
  ['src/server/app.ts', '// For what is no path.'],
  ['src/server/app.ts', '/** `undefined` where nothing matched. */'],
  ['docs/routes.md', 'It runs for every page, also if a rewrite leads there.'],
  ['docs/how-to.md', 'Replace the first line by this one.'],
  ['docs/loaders.md', 'The data is loaded by a click.'],
  ['src/server/app.ts', '// An answer with another status than 200.'],
] as const)('%s may not say: %s', ([path, line]) => {
  expect(faultsOf(path, '', line)).toEqual([expect.stringMatching(new RegExp(`^${path}:2: ".+"; write `))])
})

test.for([
  ['docs/caching.md', 'Who may do what? Guards decide.'],
  ['docs/caching.md', 'There is no list of pages, and the value is no longer used.'],
  ['docs/caching.md', '| Who waits? | everybody |'],
  [
    'docs/deployment.md',
    'It passes, and also if it cannot run. Replace the instances one by one, or a file by renaming; a page is replaced by a fallback.',
  ],
  ['src/server/app.ts', '/** Who has signed in. */'],
  ['src/server/app.ts', '// What does not decode is no static text.'],
  [
    'src/server/app.ts',
    '// `true` stands for all of them, and another one begins. For good reasons, the page that there is.',
  ],
  ['tests/unit/app.test.ts', "test('a folder that is no application, unless told', () => {"],
] as const)('%s may say: %s', ([path, line]) => {
  expect(faultsOf(path, line)).toEqual([])
})
