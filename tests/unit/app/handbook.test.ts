import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { routes } from '../../../src/app/routes.ts'
import { createRouteTable } from '../../../src/shared/route-table.ts'
import { createHandbook } from '../../../src/app/docs/handbook.server.ts'
import { isChapterPath, readChapter } from 'millrace/internal/handbook'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'

const chapter = (title: string, order: number, body = 'Text.') =>
  `---\ntitle: ${title}\norder: ${order}\n---\n\n${body}\n`

describe('a folder of chapters', () => {
  let temp: TempDir
  let folder = ''
  let nowMs = 0
  beforeEach(async () => {
    temp = await makeTempDir('handbook')
    folder = temp.path
    nowMs = 0
    writeFileSync(join(folder, 'later.md'), chapter('Later', 2))
    writeFileSync(join(folder, 'index.md'), chapter('First', 0))
  })
  afterEach(() => temp.remove())

  it('comes in the order that the chapters state, with index.md at /docs', async () => {
    const chapters = await createHandbook(folder, () => nowMs).chapters()
    expect(chapters.map(({ path, title }) => [path, title])).toEqual([
      ['/docs', 'First'],
      ['/docs/later', 'Later'],
    ])
  })

  it('shows a saved chapter at the next look, and does not look more than once a second', async () => {
    const handbook = createHandbook(folder, () => nowMs)
    await handbook.chapters()
    writeFileSync(join(folder, 'later.md'), chapter('Later, revised', 2))
    utimesSync(join(folder, 'later.md'), 1, 1)
    nowMs = 999
    expect((await handbook.chapters()).map(({ title }) => title)).toEqual(['First', 'Later'])
    nowMs = 1_000
    expect((await handbook.chapters()).map(({ title }) => title)).toEqual(['First', 'Later, revised'])
  })

  it('is rendered once for as long as no file changes', async () => {
    const handbook = createHandbook(folder, () => nowMs)
    const before = await handbook.chapters()
    nowMs = 5_000
    expect(await handbook.chapters()).toBe(before)
  })

  it('shows all others where one is faulty, says in its place what is wrong, and recovers when it has been mended', async () => {
    const handbook = createHandbook(folder, () => nowMs)
    writeFileSync(join(folder, 'later.md'), 'no front matter')
    const [first, faulty] = await handbook.chapters()
    expect(first).toMatchObject({ title: 'First' })
    expect(faulty).toMatchObject({ path: '/docs/later', title: 'later.md' })
    expect(faulty?.html.text).toContain('This chapter cannot be shown. later.md: begin the file with front matter')
    writeFileSync(join(folder, 'later.md'), chapter('Mended', 2))
    nowMs = 1_000
    expect((await handbook.chapters()).map(({ title }) => title)).toEqual(['First', 'Mended'])
  })
})

describe('front matter', () => {
  it.each([
    ['is missing', 'Text.', /a\.md: begin the file with front matter/],
    ['has no title', '---\norder: 1\n---\nText.', /a\.md: the front matter has no "title"/],
    ['has an order that is no number', '---\ntitle: A\norder: first\n---\nText.', /a\.md: "order" .* not a number/],
  ])('that %s is refused by a message with the file', (_, source, message) => {
    expect(() => readChapter('a.md', source)).toThrow(message)
  })
})

describe('the handbook of this project', () => {
  const folder = join(import.meta.dirname, '../../../docs')

  it('has no chapter that cannot be shown', async () => {
    const chapters = await createHandbook(folder, () => 0).chapters()
    expect(chapters.filter(({ html }) => html.text.includes('cannot be shown')).map(({ title }) => title)).toEqual([])
    expect(chapters.length).toBeGreaterThan(20)
  })

  it('has no link into itself that leads nowhere', async () => {
    const chapters = await createHandbook(folder, () => 0).chapters()
    const ids = new Map(chapters.map(({ path, headings }) => [path, new Set(headings.map(({ id }) => id))]))
    const links = chapters.flatMap(({ path, html }) =>
      [...html.text.matchAll(/href="(\/docs[^"#]*)?(?:#([^"]*))?"/g)].map(([, to, id]) => ({
        from: path,
        to: to ?? path,
        id,
      })),
    )
    expect(links.length).toBeGreaterThan(20)
    expect(links.filter(({ to, id }) => !ids.has(to) || (id !== undefined && ids.get(to)?.has(id) !== true))).toEqual(
      [],
    )
  })

  it('links to no page of the lab that is not there', async () => {
    const table = createRouteTable(routes)
    const chapters = await createHandbook(folder, () => 0).chapters()
    const links = chapters.flatMap(({ html }) =>
      [...html.text.matchAll(/href="(\/lab[^"?#]*)/g)].map(([, to = '']) => to),
    )
    expect(links.length).toBeGreaterThan(10)
    // Two of the lab's paths are rules and not pages.
    const rulePaths = /^\/lab\/(?:old|alias)\//
    expect(links.filter((to) => !rulePaths.test(to) && table.match(to) === undefined)).toEqual([])
  })

  it('names no script of the repository, which an installed package lacks', () => {
    const files = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'changing.md')
    const named = files.flatMap((file) => readFileSync(join(folder, file), 'utf8').match(/\bscripts\/[\w./-]+/g) ?? [])
    expect(named).toEqual([])
  })

  it('gives every chapter a place of its own', async () => {
    const chapters = await createHandbook(folder, () => 0).chapters()
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isChapterPath)
    expect(chapters).toHaveLength(files.length)
    expect(new Set(chapters.map(({ order }) => order)).size).toBe(files.length)
  })
})
