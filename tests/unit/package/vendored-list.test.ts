import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { unnamedChanges, vendoredBill, vendoredText } from '../../../scripts/package/vendored-list.ts'

const PACKAGES = ['@scope/tool@1.2.3', 'cookie@2.0.1']

test('the bill of materials names each package as scanners know it', () => {
  const bill = JSON.parse(vendoredBill('0.1.0', PACKAGES)) as {
    readonly bomFormat: string
    readonly components: readonly { readonly purl: string }[]
  }
  expect(bill.bomFormat).toBe('CycloneDX')
  expect(bill.components.map(({ purl }) => purl)).toEqual(['pkg:npm/%40scope/tool@1.2.3', 'pkg:npm/cookie@2.0.1'])
})

describe('a vendored package that is another one than in the last release', () => {
  const released = vendoredText(PACKAGES)
  const changelog = (line: string) =>
    `# Changelog\n\n## [0.2.0] - Unreleased\n\n${line}\n\n## [0.1.0]\n\n- cookie 2.1.0\n`

  test.for([
    ['has not changed', PACKAGES, '', []],
    ['is of another version', ['@scope/tool@1.2.4', 'cookie@2.0.1'], '', ['@scope/tool 1.2.4']],
    ['is new', [...PACKAGES, 'zod@4.0.0'], '', ['zod 4.0.0']],
    ['is gone', ['cookie@2.0.1'], '', ['@scope/tool']],
    ['is named', ['cookie@2.1.0'], '- `cookie` 2.1.0, without `@scope/tool`.', []],
    ['is named by half', ['@scope/tool@1.2.3', 'cookie@2.1.0'], '- `cookie` is newer.', ['cookie 2.1.0']],
    ['is named in an older section', ['@scope/tool@1.2.3', 'cookie@2.1.0'], '', ['cookie 2.1.0']],
    ['is named as another', ['@scope/tool@1.2.3', 'cookie@2.1.0'], '- cookie-parser 2.1.0', ['cookie 2.1.0']],
  ] as const)('%s', ([, packages, line, unnamed]) => {
    expect(unnamedChanges(released, packages, changelog(line))).toEqual(unnamed)
  })
})

test('the list of the last release has each vendored package once, in order', () => {
  const lines = readFileSync(new URL('../../../docs/vendored.txt', import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
  expect(lines).toEqual([...new Set(lines)].toSorted())
  for (const line of lines) expect(line).toMatch(/^(?:@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+/)
  expect(lines.length).toBeGreaterThan(20)
})
