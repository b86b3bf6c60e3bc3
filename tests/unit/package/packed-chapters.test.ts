import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packedChapters } from '../../../scripts/package/packed-chapters.ts'

const DOCS = join(import.meta.dirname, '../../../docs')
const chapter = (body: string) => `---\ntitle: A chapter\norder: 1\n---\n\n${body}\n`

/** The body of one of two chapters, `routes.md` and `reference/server.md`, as the package has it. */
function packed(path: 'routes.md' | 'reference/server.md', body: string): string | undefined {
  const empty = ['index.md', 'routes.md', 'reference/server.md'].map((name) => [name, chapter('')] as const)
  const others = new Map([...empty, ['navigation.md', chapter("## React's `use`\n\n## Data\n\n## Data")] as const])
  return packedChapters(others.set(path, chapter(body)))
    .get(path)
    ?.split('\n')
    .slice(5, -1)
    .join('\n')
}

test.for([
  ['[a](/docs/navigation)', '[a](navigation.md)'],
  ['[a](/docs)', '[a](index.md)'],
  ['[a](/docs/reference/server)', '[a](reference/server.md)'],
  // The fragments are those of GitHub, not of the site.
  ['[a](/docs/navigation#react-s-use)', '[a](navigation.md#reacts-use)'],
  ['[a](/docs/navigation#data-2)', '[a](navigation.md#data-1)'],
  ["[`errors['']`](/docs/navigation)", "[`errors['']`](navigation.md)"],
  ['[a](#an-app-s-url)\n\n## An app’s URL', '[a](#an-apps-url)\n\n## An app’s URL'],
  // Pages of the site that are not in the package.
  ['[/lab/kept/1](/lab/kept/1) shows it.', '`/lab/kept/1` shows it.'],
  ['the [guestbook](/lab/guestbook)', 'the guestbook'],
  ['[a](https://example.com/docs)', '[a](https://example.com/docs)'],
  ['```md\n[a](/docs)\n```\n[a](/docs)', '```md\n[a](/docs)\n```\n[a](index.md)'],
] as const)('%s', ([body, expected]) => {
  expect(packed('routes.md', body)).toBe(expected)
})

test('a link of the reference leads out of its folder', () => {
  expect(packed('reference/server.md', '[a](/docs/routes) [b](/docs/reference/server)')).toBe(
    '[a](../routes.md) [b](server.md)',
  )
})

test('a link to a chapter that is not packed stops the packing', () => {
  expect(() => packed('routes.md', '[a](/docs/changing)')).toThrow(
    'docs/routes.md links to /docs/changing, which the package does not have.',
  )
})

test('no chapter of the package has a link that leads nowhere', () => {
  const names = globSync(['*.md', 'reference/**/*.md'], { cwd: DOCS, exclude: ['changing.md'] })
  const texts = packedChapters(new Map(names.map((name) => [name, readFileSync(join(DOCS, name), 'utf8')])))
  const links = [...texts].flatMap(([name, text]) =>
    [...text.replaceAll(/^```.*?^```/gms, '').matchAll(/\]\(([^)]*)\)/g)].map(([, to = '']) => ({ name, to })),
  )
  expect(links.length).toBeGreaterThan(1_000)
  expect(links.filter(({ to }) => to.startsWith('/'))).toEqual([])
  const dead = links.filter(({ name, to }) => {
    const [file = '', fragment] = to.split('#')
    if (/^[a-z]+:/.test(to)) return false
    const target = texts.get(file === '' ? name : join(name, '..', file))
    if (target === undefined) return true
    const headings = [...target.matchAll(/^#{2,6} (.+)/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
        .replaceAll(' ', '-'),
    )
    return (
      fragment !== undefined &&
      !headings.some((heading) => fragment.replace(/-\d+$/, '') === heading.replace(/-\d+$/, ''))
    )
  })
  expect(dead).toEqual([])
})
