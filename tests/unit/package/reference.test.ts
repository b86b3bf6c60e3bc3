import { expect, test } from 'vitest'
import { createDeclarations } from '../../../scripts/package/reference/declarations.ts'
import { referencePages } from '../../../scripts/package/reference/pages.ts'

const FILES = new Map([
  [
    'server/index.d.ts',
    `export { openMill, type Mill, type MillOptions } from './mill.js';
export { MillError } from './mill-error.js';
export type { Wheel } from '../shared/wheel.js';
`,
  ],
  [
    'server/mill.d.ts',
    `import type { Wheel } from '../shared/wheel.js';
import type { Secret } from './secret.js';
/** Options of \`openMill\`. */
export interface MillOptions {
    /** Turns in a minute. Default: 6. */
    readonly turns?: number | undefined;
    /** @internal */
    readonly secret?: Secret;
    readonly gear: Gear;
}
interface Gear extends Pick<Parts, 'teeth'> {
    /** Of wood. */
    readonly wooden: boolean;
}
interface Parts {
    /** How many. */
    readonly teeth: number;
    /** Not picked. */
    readonly oil: number;
}
/** A mill. */
export type Mill = { readonly wheels: readonly Wheel[] };
/**
 * Opens a mill: of a name.
 * @param name as on the sign.
 * @returns the mill.
 * @throws {MillError} if it is closed.
 * @example
 * \`\`\`ts
 * openMill('upper')
 * \`\`\`
 */
export declare function openMill(name: string, options?: MillOptions): Promise<Mill>;
`,
  ],
  [
    'server/mill-error.d.ts',
    `/** A mill is closed. */
export declare class MillError extends Error {
    private reason;
    /** Until then, in ms. */
    readonly until: number;
}
`,
  ],
  ['server/secret.d.ts', 'export interface Secret { readonly key: string; }\n'],
  ['shared/wheel.d.ts', '/** A wheel. */\nexport interface Wheel {\n    readonly size: number;\n}\n'],
  ['client/index.d.ts', `export type { Wheel } from '../shared/wheel.js';\n`],
])

const SERVER = `/** For servers. */

// Reference: Mills
export { openMill, type Mill, type MillOptions } from './mill.ts'
export { MillError } from './mill-error.ts'

// Reference: Parts of mills
export type { Wheel } from '../shared/wheel.ts'
`

const pages = await referencePages(
  [
    {
      name: 'mills',
      types: 'client/index.d.ts',
      source: `/** For pages. */\nexport type { Wheel } from '../shared/wheel.ts'\n`,
    },
    { name: 'mills/server', types: 'server/index.d.ts', source: SERVER },
  ],
  createDeclarations(FILES),
)
const page = (path: string): string => pages.get(path) ?? ''

test('there is a page for each entry, and for each subject of an entry that is divided', () => {
  expect([...pages.keys()]).toEqual([
    'reference.md',
    'reference/mills.md',
    'reference/server.md',
    'reference/server/mills.md',
    'reference/server/parts-of-mills.md',
  ])
  expect(page('reference/server/mills.md')).toMatch(
    /^---\ntitle: mills\/server: mills\ngroup: reference\norder: 1003\n/,
  )
})

test('an entry lists all its exports with their first sentence, where they are described', () => {
  expect(page('reference/server.md')).toContain('For servers.')
  expect(page('reference/server.md')).toContain(
    '| [`openMill`](/docs/reference/server/mills#openmill) | Opens a mill. |',
  )
  expect(page('reference/server.md')).toContain('| [`Wheel`](/docs/reference/mills#wheel) | A wheel. |')
})

test('what two entries export is described once, with both names', () => {
  expect(page('reference/mills.md')).toContain('Interface, exported by `mills` and `mills/server`.')
  expect(page('reference/server/parts-of-mills.md')).toContain(
    'Also exported here: [`Wheel`](/docs/reference/mills#wheel).',
  )
})

test('a function has its signature, parameters, result, errors and example', () => {
  expect(page('reference/server/mills.md')).toContain(`## openMill

Function, exported by \`mills/server\`.

\`\`\`ts signature
function openMill(name: string, options?: MillOptions): Promise<Mill>
\`\`\`

Opens a mill: of a name.

- \`name\`: as on the sign.

**Returns** the mill.

**Throws** \`MillError\` if it is closed.

\`\`\`ts
openMill('upper')
\`\`\`
`)
})

test('an interface has its members, those that it takes from types that are not exported too, and no internal ones', () => {
  expect(page('reference/server/mills.md')).toContain(`\`\`\`ts signature
interface MillOptions {
  turns?: number
  gear: Gear
}

interface Gear extends Pick<Parts, 'teeth'> {
  wooden: boolean
}

interface Parts {
  teeth: number
}
\`\`\`

Options of \`openMill\`.

- \`turns\`: Turns in a minute. Default: 6.
- \`wooden\`: Of wood.
- \`teeth\`: How many.
`)
  expect(page('reference/server/mills.md')).not.toMatch(/secret|oil|reason/i)
})

test('an export under no subject of a divided entry stops it', async () => {
  const source = SERVER.replace('// Reference: Mills\n', '')
  const made = referencePages([{ name: 'mills/server', types: 'server/index.d.ts', source }], createDeclarations(FILES))
  await expect(made).rejects.toThrow('mills/server: no "// Reference: …" is above openMill')
})
