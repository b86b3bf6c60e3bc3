import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** The parts of Playwright's `Page` that are kept. */
export interface KeptPage {
  screenshot(options: { readonly path: string; readonly fullPage: boolean; readonly timeout: number }): Promise<unknown>
  content(): Promise<string>
  url(): string
}

/** The parts of Playwright's `Page` that lead to all pages of its context. */
export interface PageInContext {
  context(): {
    pages(): readonly KeptPage[]
    on(event: 'console', listener: (message: { type(): string; text(): string }) => void): unknown
    on(event: 'weberror', listener: (failure: { error(): Error }) => void): unknown
  }
}

const MOST_NAME = 80 // characters; file systems allow 255 bytes
const MOST_LINES = 1_000 // of a console
const PICTURE_LIMIT_MS = 5_000 // a page that is stuck must not hide the test's own failure

/**
 * Runs the part of a test that uses a page. If it fails, each page of the page's context leaves a picture, its HTML, and
 * what the console said from the start of `run` on; the paths of the pictures are printed.
 * @param title names the files: a test's `t.name`. Files of the same title are replaced.
 * @param folder from the working folder. Default: `failed-pages`.
 * @returns the result of `run`.
 * @throws what `run` throws.
 */
export async function keepFailedPages<Result>(
  page: PageInContext,
  title: string,
  run: () => Promise<Result>,
  folder: string = 'failed-pages',
): Promise<Result> {
  const context = page.context()
  const said: string[] = []
  const note = (line: string): void => {
    if (said.length < MOST_LINES) said.push(line)
  }
  context.on('console', (message) => note(`${message.type()}: ${message.text()}`))
  context.on('weberror', (failure) => note(`uncaught: ${failure.error().stack ?? failure.error().message}`))
  try {
    return await run()
  } catch (error) {
    const kept = await savePages(title, context.pages(), said, folder)
    if (kept.length > 0) process.stdout.write(`What its pages showed: ${kept.join(', ')}\n`)
    throw error
  }
}

/**
 * Keeps pages: a picture, the HTML, and what the console said.
 * @param said lines of the console.
 * @returns the paths of the pictures, from the working folder. A page that cannot be shown any more has none.
 */
export async function savePages(
  title: string,
  pages: readonly KeptPage[],
  said: readonly string[],
  folder: string,
): Promise<readonly string[]> {
  const name = title.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, MOST_NAME)
  try {
    await mkdir(folder, { recursive: true })
  } catch {
    return [] // the test's own error says more
  }
  const kept = await Promise.all(
    pages.map(async (page, index) => {
      const file = join(folder, `${name}-${index + 1}`)
      try {
        await page.screenshot({ path: `${file}.png`, fullPage: true, timeout: PICTURE_LIMIT_MS })
        await writeFile(`${file}.html`, await page.content())
        await writeFile(`${file}.txt`, [page.url(), ...said].join('\n'))
        return [`${relative(process.cwd(), file)}.png`]
      } catch {
        return [] // its browser has crashed, or a dialog holds it: the test's own error says more
      }
    }),
  )
  return kept.flat()
}
