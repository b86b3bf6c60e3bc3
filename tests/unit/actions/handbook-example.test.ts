import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z, type ZodType } from 'zod'

const ROOT = join(import.meta.dirname, '../../..')
const FILES = ['actions.server.ts', 'page.tsx'] as const

/** Files of the examples that tests/browser/search-params and field-forms run. */
const PRINTED = [
  'mill-list/filters.ts',
  'mill-list/loader.server.ts',
  'mill-list/mill-dialog.tsx',
  'mill-list/mill-filter.tsx',
  'mill-list/oldest-first.tsx',
  'mill-list/page.tsx',
  'photo/actions.server.ts',
  'photo/page.tsx',
  'shelf/actions.server.ts',
  'shelf/remove-button.tsx',
  'sign-up/actions.server.ts',
  'sign-up/page.tsx',
  'yard/layout.tsx',
]

/** What the chapter prints under a name, without the name. */
function printed(file: string): string {
  const chapter = readFileSync(join(ROOT, 'docs/actions.md'), 'utf8')
  const [, code] =
    new RegExp(`^\`\`\`tsx?(?: \\{.*\\})?\n// src/app/subscribe/${file}\n(.*?)^\`\`\``, 'ms').exec(chapter) ?? []
  if (code === undefined) throw new Error(`docs/actions.md does not print ${file}`)
  return code
}

describe('the example of the chapter on actions', () => {
  test.for(FILES)('is the %s that is compiled, built and run by tests/browser/actions-handbook', (file) => {
    const path = join(ROOT, 'tests/fixtures/actions-app/subscribe', file)
    expect(printed(file)).toBe(readFileSync(path, 'utf8'))
  })

  test('has 25 lines', () => {
    const lines = FILES.flatMap((file) => printed(file).split('\n')).filter((line) => line.trim() !== '')
    expect(lines).toHaveLength(25)
  })
})

test('the schema that the chapter gives for a number refuses an empty field, and takes a number', () => {
  const chapter = readFileSync(join(ROOT, 'docs/actions.md'), 'utf8')
  const [, code = ''] = /To require a number, write `(z\..+?)`\./.exec(chapter) ?? []
  const schema = new Function('z', `return ${code}`)(z) as ZodType
  expect(['', ' ', 'two', '0', ' 12 '].map((text) => schema.safeParse(text))).toMatchObject([
    { success: false },
    { success: false },
    { success: false },
    { success: true, data: 0 },
    { success: true, data: 12 },
  ])
})

describe('the pages of tests/fixtures/handbook-app', () => {
  const FIXTURE = join(ROOT, 'tests/fixtures/handbook-app')
  const printed = globSync('docs/*.md', { cwd: ROOT }).flatMap((name) => {
    const chapter = readFileSync(join(ROOT, name), 'utf8')
    return (
      [...chapter.matchAll(/^```tsx?\n\/\/ src\/app\/(\S+)\n(.*?)^```/gms)]
        // The frame around the examples is the fixture's own.
        .filter(([, file = '']) => file.includes('/') && existsSync(join(FIXTURE, file)))
        .map(([, file = '', code = '']) => ({ name, file, code }))
    )
  })

  test('are printed by the handbook', () => {
    expect(printed.map(({ file }) => file).toSorted()).toEqual(PRINTED)
  })

  test.for(printed)('are what $name prints: $file', ({ file, code }) => {
    expect(code).toBe(readFileSync(join(FIXTURE, file), 'utf8'))
  })
})
