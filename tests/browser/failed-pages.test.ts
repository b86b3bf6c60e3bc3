import { keepFailedPages } from 'millrace/testing'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { savePages } from '../../src/testing/keep-failed-pages.ts'
import { browserTest } from '../support/browser.ts'
import { makeTempDir } from '../support/temp-dir.ts'

browserTest('a failed test leaves a picture, the HTML and the console of its page', async ({ open }) => {
  const temp = await makeTempDir('failed-pages')
  const page = await open()
  await page.goto('/')
  const kept = await savePages('a page / fails: <b>', [page], ['log: one'], temp.path)
  const file = join(temp.path, 'a-page-fails-b--1')
  expect(kept).toEqual([expect.stringMatching(/a-page-fails-b--1\.png$/)])
  expect((await readFile(`${file}.png`)).subarray(1, 4).toString()).toBe('PNG')
  expect(await readFile(`${file}.html`, 'utf8')).toContain('</html>')
  expect(await readFile(`${file}.txt`, 'utf8')).toBe(`${page.url()}\nlog: one`)
  await temp.remove()
})

browserTest(
  'an application’s test keeps all pages of its context when it fails, and nothing else',
  async ({ open }) => {
    const temp = await makeTempDir('kept-pages')
    const page = await open({ allow: [/broken/] })
    await page.goto('/')
    expect(await keepFailedPages(page, 'passes', () => Promise.resolve('done'), join(temp.path, 'none'))).toBe('done')
    const failure = new Error('not what was expected')
    const failed = keepFailedPages(
      page,
      'fails',
      async () => {
        const second = await page.context().newPage()
        await second.goto('/docs')
        await page.evaluate(`console.info('a note')`)
        const told = page.context().waitForEvent('weberror')
        await page.evaluate(() => void setTimeout(() => Promise.reject(new Error('broken'))))
        await told
        throw failure
      },
      temp.path,
    )
    await expect(failed).rejects.toBe(failure)
    expect((await readdir(temp.path)).toSorted()).toEqual(
      ['fails-1', 'fails-2'].flatMap((name) => [`${name}.html`, `${name}.png`, `${name}.txt`]),
    )
    const text = await readFile(join(temp.path, 'fails-1.txt'), 'utf8')
    expect(text.split('\n')).toEqual(
      expect.arrayContaining([page.url(), 'info: a note', expect.stringMatching(/^uncaught: .*broken/)]),
    )
    expect(await readFile(join(temp.path, 'fails-2.txt'), 'utf8')).toMatch(/\/docs\n/)
    await temp.remove()
  },
)
