import { describe, expect, test } from 'vitest'
import { namedScript } from '../../../scripts/build/output/debug-ids.ts'
import { debugIdOf } from '../../../src/shared/reports/debug-id.ts'
import { nameScripts } from '../../../src/client/reports/name-scripts.ts'

describe('a debug id', () => {
  test('is a UUID, and the same one in every version: maps have been uploaded under it', () => {
    expect(debugIdOf('client-S4JKSS4W.js')).toBe('5d028170-9dac-8a74-87b4-a884a2eb0bdf')
  })

  test('is another one for another name', () => {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
    const names = [...letters].flatMap((a) => [...letters].flatMap((b) => [`chunk-${a}${b}.js`, `page-${b}${a}.js`]))
    const ids = names.map(debugIdOf)
    expect(new Set(ids).size).toBe(names.length)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/)
  })
})

describe('the comment in a script stands', () => {
  const written = (script: string): string =>
    new TextDecoder().decode(namedScript(new TextEncoder().encode(script), 'id'))

  test.for([
    ['at its end', 'run()\n', 'run()\n//# debugId=id\n'],
    ['on a line of its own', 'run()', 'run()\n//# debugId=id\n'],
    ['before the one for the map', 'run()\n//# sourceMappingURL=a\n', 'run()\n//# debugId=id\n//# sourceMappingURL=a'],
    ['behind what only looks like one', 'a("//# sourceMappingURL=x")', 'a("//# sourceMappingURL=x")\n//# debugId=id\n'],
  ] as const)('%s', ([, script, named]) => {
    expect(written(script)).toBe(named)
  })
})

describe('an event of a page names', () => {
  const PREFIX = 'https://a.test/_m/assets/'
  const eventWith = (...filenames: readonly string[]) => ({
    exception: { values: [{ stacktrace: { frames: filenames.map((filename) => ({ filename })) } }] },
  })

  test('each script of its stacks once, by its id', () => {
    const [one, two] = [`${PREFIX}one-AAAAAAAA.js`, `${PREFIX}two-BBBBBBBB.js?v=1`]
    const { debug_meta: meta } = nameScripts(eventWith(one, two, one), PREFIX) as { debug_meta?: object }
    expect(meta).toEqual({
      images: [
        { type: 'sourcemap', code_file: one, debug_id: debugIdOf('one-AAAAAAAA.js') },
        { type: 'sourcemap', code_file: two, debug_id: debugIdOf('two-BBBBBBBB.js') },
      ],
    })
  })

  test.for([
    ['another site’s', 'https://b.test/_m/assets/one-AAAAAAAA.js'],
    ['the document', 'https://a.test/lab'],
    ['nothing', '<anonymous>'],
  ])('no script that is %s', ([, filename = '']) => {
    const event = eventWith(filename)
    expect(nameScripts(event, PREFIX)).toBe(event)
  })
})
