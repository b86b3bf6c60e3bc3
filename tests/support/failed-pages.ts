import { mkdir, writeFile } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import type { Page } from 'playwright-core'

/** Where failed browser tests leave what their pages showed; git ignores it. */
export const FAILED_PAGES = resolve(import.meta.dirname, '../../failed-pages')

const MOST_NAME = 80 // characters; file systems allow 255 bytes

/**
 * Keeps each page of a failed test: a picture, its HTML, and what its console said.
 * @param title of the test.
 * @param said lines of the console.
 * @returns the paths of the pictures, from the working folder. A page that cannot be shown any more has none.
 */
export async function keepFailedPages(
  title: string,
  pages: readonly Page[],
  said: readonly string[],
  folder: string = FAILED_PAGES,
): Promise<readonly string[]> {
  const name = title.replace(/[^\p{L}\p{N}]+/gu, '-').slice(0, MOST_NAME)
  await mkdir(folder, { recursive: true })
  const kept = await Promise.all(
    pages.map(async (page, index) => {
      const file = join(folder, `${name}-${index + 1}`)
      try {
        await page.screenshot({ path: `${file}.png`, fullPage: true, timeout: 5_000 })
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
