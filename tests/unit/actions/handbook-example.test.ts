import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const FILES = ['actions.server.ts', 'page.tsx'] as const

/** What the chapter prints under a name, without the name. */
function printed(file: string): string {
  const chapter = readFileSync(join(ROOT, 'docs/actions.md'), 'utf8')
  const [, code] = new RegExp(`^\`\`\`tsx?\n// src/app/subscribe/${file}\n(.*?)^\`\`\``, 'ms').exec(chapter) ?? []
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
