/** `millrace new --tailwind`, from the packed archive: its own tests, its build, and a class that is added in development. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { launchChromium } from '../support/browser.ts'
import { findChromium } from '../support/chromium.ts'
import { visitExample } from '../support/example-pages.ts'
import { makeOutsideFolder, packedArchive, type OutsideFolder } from '../support/installed-application.ts'

vi.setConfig({ testTimeout: 300_000 })

async function makeApplication(folder: OutsideFolder, ...options: readonly string[]): Promise<string> {
  const archive = await packedArchive(folder)
  await succeed(folder, ['tar', 'xzf', archive])
  const millrace = join(folder.path, 'package/bin/millrace.js')
  await succeed(folder, [process.execPath, millrace, 'new', 'shop', '--package', archive, ...options])
  return join(folder.path, 'shop')
}

async function succeed(folder: OutsideFolder, command: readonly string[], cwd?: string): Promise<string> {
  const { code, out, errors } = await folder.run(command, cwd === undefined ? {} : { cwd })
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}.\n${out}${errors}`)
  return out
}

/** All stylesheets that a page links. */
async function stylesOf(origin: string): Promise<string> {
  const html = await (await fetch(origin)).text()
  const links = [...html.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, href = '']) => origin + href)
  return (await Promise.all(links.map(async (link) => (await fetch(link)).text()))).join('\n')
}

test('passes its own tests, and has the rules of its classes', async () => {
  await using folder = await makeOutsideFolder()
  const shop = await makeApplication(folder, '--tailwind')
  expect(await succeed(folder, ['npm', 'test'], 'shop')).toMatch(/^ℹ fail 0$/m)
  {
    await using server = await folder.serve(['millrace', 'serve'], { cwd: 'shop' })
    expect(await stylesOf(server.origin)).toMatch(/\.max-w-2xl\{max-width:var\(--container-2xl\)\}/)
  }
  if (findChromium() === undefined) return
  await using server = await folder.serve(['millrace', 'dev'], { cwd: 'shop' })
  const browser = await launchChromium()
  try {
    await visitExample({ browser, origin: server.origin }, async (page) => {
      await page.waitForFunction(() => history.state?.millrace !== undefined)
      const file = join(shop, 'src/app/home-page.tsx')
      await writeFile(file, (await readFile(file, 'utf8')).replace('<h1>', '<h1 className="text-[#00ff00]">'))
      await page.waitForFunction(() => {
        const heading = document.querySelector('h1')
        return heading !== null && getComputedStyle(heading).color === 'rgb(0, 255, 0)'
      })
    })
  } finally {
    await browser.close()
  }
})

test('one page alone has Tailwind, too', async () => {
  await using folder = await makeOutsideFolder()
  await makeApplication(folder, '--tailwind', '--minimal')
  await succeed(folder, ['tsc'], 'shop')
  await succeed(folder, ['millrace', 'build'], 'shop')
  await using server = await folder.serve(['millrace', 'serve'], { cwd: 'shop' })
  expect(await stylesOf(server.origin)).toContain('.text-3xl{')
})

test('the versions are those that the example is tested with', async () => {
  const project = join(import.meta.dirname, '../..')
  const read = async (file: string): Promise<Record<string, string>> =>
    JSON.parse(await readFile(join(project, file), 'utf8')).devDependencies
  const example = await read('examples/tailwind/package.json')
  for (const template of ['tailwind', 'tailwind-minimal']) {
    const versions = Object.entries(await read(`templates/${template}/package.json`))
    expect(versions).toEqual(versions.map(([name]) => [name, `^${example[name]}`]))
  }
})
