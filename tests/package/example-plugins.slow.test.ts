/** The examples of plugins, each installed outside of the project from the packed archive. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../support/browser.ts'
import { findChromium } from '../support/chromium.ts'
import { visitExample } from '../support/example-pages.ts'
import {
  installExample,
  makeOutsideFolder,
  packedArchive,
  type OutsideFolder,
} from '../support/installed-application.ts'

const hasBrowser = findChromium() !== undefined

interface Served {
  readonly html: string
  /** All linked stylesheets. */
  readonly css: string
}

interface Example {
  readonly name: string
  /** Looks at what is served, without scripts. */
  served(page: Served): void
  /** Does what only a hydrated page can. */
  alive?(page: Page): Promise<void>
  /** A fault in a source: its file, a text in it, the text that replaces it, and what the build says. */
  readonly fault: readonly [file: string, text: string, replacement: string, told: RegExp]
}

const EXAMPLES: readonly Example[] = [
  {
    name: 'sass',
    served({ html, css }) {
      expect(css).toMatch(/border-inline-start:\s?4px solid #1b6ca8/)
      const [, name = 'no rule'] = /\.(mill_card_\w+_card)\{/.exec(css) ?? []
      expect(html).toContain(`<div class="${name}">Upper mill</div>`)
    },
    fault: ['_theme.scss', '$gap: 1rem;', '$gap: $none;', /Undefined variable[^]*src\/app\/_theme\.scss:5:6:/],
  },
  {
    name: 'tailwind',
    served({ html, css }) {
      expect(html).toContain('text-water')
      expect(css).toMatch(/\.text-water\{color:var\(--color-water\)\}/)
      expect(css).toContain('#1b6ca8')
      expect(css).not.toContain('.text-purple')
    },
    async alive(page) {
      await page.getByRole('button', { name: '1 wheels' }).click()
      const button = page.getByRole('button', { name: '2 wheels' })
      expect(await button.evaluate((element) => getComputedStyle(element).backgroundColor)).toBe('rgb(27, 108, 168)')
    },
    fault: [
      'styles.css',
      '--color-water: #1b6ca8;',
      '--color-water }',
      /src\/app\/styles\.css:4:\d+:[^]*--color-water }/,
    ],
  },
  {
    name: 'postcss',
    served({ html, css }) {
      expect(css).not.toContain('--narrow')
      expect(css.match(/@media ?\(max-width: ?40rem\)/g)).toHaveLength(2)
      const [, name = 'no rule'] = /\.(mill_list_\w+_list)\{/.exec(css) ?? []
      expect(html).toContain(`<ul class="${name}">`)
    },
    fault: [
      'styles.css',
      'margin: 0 auto;',
      'margin 0 auto;',
      /Unknown word margin[^]*src\/app\/styles\.css:\d+:2:[^]*margin 0 auto;/,
    ],
  },
  {
    name: 'mdx',
    served({ html }) {
      expect(html).toContain('<title>MDX</title>')
      expect(html).toContain('<strong>text</strong>')
      expect(html).toContain('0<!-- --> turns')
    },
    async alive(page) {
      await page.getByRole('button', { name: '0 turns' }).click()
      await page.getByRole('button', { name: '1 turns' }).waitFor()
      await page.getByRole('link', { name: 'The other page' }).click()
      await page.getByRole('heading', { name: 'Notes' }).waitFor()
    },
    fault: ['page.mdx', '<Wheel />', '<Wheel', /page\.mdx:\d+:\d+:/],
  },
  {
    name: 'svg',
    served({ html }) {
      expect(html).toMatch(/<svg[^>]* viewBox="0 0 24 24"[^>]* stroke="currentColor"[^>]* role="img"/)
      expect(html).toMatch(/<img src="\/_m\/assets\/wheel-\w+\.svg"/)
    },
    async alive(page) {
      const wheel = page.getByRole('img', { name: 'A wheel in the colour of its text' })
      const colour = (): Promise<string> => wheel.evaluate((svg) => getComputedStyle(svg).stroke)
      expect(await colour()).toBe('rgb(0, 128, 128)')
      await page.getByRole('button', { name: 'Another colour' }).click()
      expect(await colour()).toBe('rgb(178, 34, 34)')
    },
    fault: ['page.tsx', './wheel.svg?react', './wheels.svg?react', /Could not resolve[^]*src\/app\/page\.tsx:3:18:/],
  },
]

const state = { folder: undefined as OutsideFolder | undefined, archive: '', browser: undefined as Browser | undefined }

function outside(): OutsideFolder {
  if (state.folder === undefined) throw new Error('There is no folder.')
  return state.folder
}

function browser(): Browser {
  if (state.browser === undefined) throw new Error('There is no browser.')
  return state.browser
}

beforeAll(async () => {
  state.folder = await makeOutsideFolder()
  state.archive = await packedArchive(state.folder)
  if (hasBrowser) state.browser = await launchChromium()
})

afterAll(async () => {
  await state.browser?.close()
  await state.folder?.[Symbol.asyncDispose]()
})

/** The first page, as a visitor without scripts gets it. */
async function readFirstPage(origin: string): Promise<Served> {
  const html = await (await fetch(origin)).text()
  const links = [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)]
  const sheets = await Promise.all(links.map(async ([, href = '']) => (await fetch(origin + href)).text()))
  return { html, css: sheets.join('\n') }
}

/** Replaces a text in a source of an example; undone by the returned function. */
async function edit(name: string, file: string, text: string, replacement: string): Promise<() => Promise<void>> {
  const path = join(outside().path, name, 'src/app', file)
  const former = await readFile(path, 'utf8')
  expect(former).toContain(text)
  await writeFile(path, former.replace(text, replacement))
  return () => writeFile(path, former)
}

describe.for(EXAMPLES)('$name', ({ name, served, alive, fault: [file, text, replacement, told] }) => {
  test('installs, its types hold, and a fault in a source has its place', async () => {
    await installExample(outside(), state.archive, name)
    expect(await outside().run(['tsc'], { cwd: name })).toEqual({ code: 0, out: '', errors: '' })
    const undo = await edit(name, file, text, replacement)
    const { code, errors } = await outside().run(['millrace', 'build'], { cwd: name })
    await undo()
    expect([code, errors]).toEqual([1, expect.stringMatching(told)])
    expect(errors).not.toMatch(/^\s+at |style-group|stdin/m)
  })

  test('is built and served, and comes alive without a complaint', async () => {
    const { code, errors } = await outside().run(['millrace', 'build'], { cwd: name })
    expect([code, errors]).toEqual([0, ''])
    await using server = await outside().serve(['millrace', 'serve'], { cwd: name })
    served(await readFirstPage(server.origin))
    if (!hasBrowser) return
    const { origin } = server
    await visitExample({ browser: browser(), origin, javaScript: false }, (page) => page.locator('h1').waitFor())
    await visitExample({ browser: browser(), origin }, async (page) => {
      await page.waitForFunction(() => history.state?.millrace !== undefined)
      await alive?.(page)
    })
  })
})

describe.runIf(hasBrowser)('in development', () => {
  test('a saved partial of Sass, a class of Tailwind and a page in MDX reach an open page', async () => {
    const saves: readonly (readonly [string, string, string, string, (page: Page) => Promise<void>])[] = [
      [
        'sass',
        '_theme.scss',
        '#1b6ca8',
        '#ff0000',
        (page) => waitForStyle(page, 'main > div', 'borderInlineStartColor', 'rgb(255, 0, 0)'),
      ],
      [
        'tailwind',
        'page.tsx',
        'text-water">',
        'text-[#00ff00]">',
        (page) => waitForStyle(page, 'h1', 'color', 'rgb(0, 255, 0)'),
      ],
      ['mdx', 'page.mdx', '# MDX', '# Saved', (page) => page.getByRole('heading', { name: 'Saved' }).waitFor()],
    ]
    for (const [name, file, text, replacement, look] of saves) {
      await using server = await outside().serve(['millrace', 'dev'], { cwd: name })
      await visitExample({ browser: browser(), origin: server.origin }, async (page) => {
        const served = await readFirstPage(server.origin)
        expect(served.html).toContain('<h1')
        await page.waitForFunction(() => history.state?.millrace !== undefined)
        const undo = await edit(name, file, text, replacement)
        await look(page)
        await undo()
      })
    }
  })
})

async function waitForStyle(page: Page, selector: string, property: string, value: string): Promise<void> {
  await page.waitForFunction(
    ([selector, property, value]) => {
      const element = document.querySelector(selector)
      return element !== null && getComputedStyle(element)[property as 'color'] === value
    },
    [selector, property, value] as const,
  )
}
