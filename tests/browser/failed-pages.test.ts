import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { browserTest } from '../support/browser.ts'
import { keepFailedPages } from '../support/failed-pages.ts'
import { makeTempDir } from '../support/temp-dir.ts'

browserTest('a failed test leaves a picture, the HTML and the console of its page', async ({ open }) => {
  const temp = await makeTempDir('failed-pages')
  const page = await open()
  await page.goto('/')
  const kept = await keepFailedPages('a page / fails: <b>', [page], ['log: one'], temp.path)
  const file = join(temp.path, 'a-page-fails-b--1')
  expect(kept).toEqual([expect.stringMatching(/a-page-fails-b--1\.png$/)])
  expect((await readFile(`${file}.png`)).subarray(1, 4).toString()).toBe('PNG')
  expect(await readFile(`${file}.html`, 'utf8')).toContain('</html>')
  expect(await readFile(`${file}.txt`, 'utf8')).toBe(`${page.url()}\nlog: one`)
  await temp.remove()
})
