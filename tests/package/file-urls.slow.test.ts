/** Files, workers and texts that the modules of an installed application name by `import.meta.url`. */
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { launchChromium } from '../support/browser.ts'
import { findChromium } from '../support/chromium.ts'
import { visitExample } from '../support/example-pages.ts'
import { makeOutsideFolder, packedArchive } from '../support/installed-application.ts'

vi.setConfig({ testTimeout: 300_000 })

const MARK = '<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"><path d="M0 0h7v7H0z"/></svg>'

const FILES = {
  'home-page.tsx': `import { useEffect, useState } from 'react'
import { callReader } from 'reader'

const mark = new URL('./mark.svg', import.meta.url)

export default function HomePage() {
  const [said, setSaid] = useState<readonly string[]>([])
  useEffect(() => {
    const hear = ({ data }: MessageEvent<string>) => setSaid((before) => [...before, data].sort())
    const url = new URL('./work/count.ts', import.meta.url)
    new Worker(url, { type: 'module', name: 'module' }).onmessage = hear
    new Worker(new URL('./work/count.ts', import.meta.url), { name: 'classic' }).onmessage = hear
    new SharedWorker(new URL('./work/shared.ts', import.meta.url), { type: 'module' }).port.onmessage = hear
    callReader(hear)
  }, [])
  return (
    <>
      <h1>Files</h1>
      <img src={mark.href} width={7} height={7} alt="A mark" />
      <a href={String(mark)}>The mark</a>
      <ul>
        {said.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
    </>
  )
}
`,
  'mark.svg': MARK,
  'work/count.ts': `import { count } from './shared-part.ts'
const texts = new URL('./texts.json', import.meta.url)
void fetch(texts)
  .then((answer) => answer.json())
  .then(({ greeting }) => postMessage(\`\${self.name}: \${greeting} \${count([1, 2])}\`))
`,
  'work/texts.json': '{"greeting":"there are"}',
  'work/shared-part.ts': `export const count = (list: readonly number[]): number => list.length\n`,
  'work/shared.ts': `import { count } from './shared-part.ts'
addEventListener('connect', (event) => (event as MessageEvent).ports[0]?.postMessage(\`shared: \${count([1, 2, 3])}\`))
`,
  'mills/loader.server.ts': `import { readFile } from 'node:fs/promises'
export async function loader() {
  const name = await readFile(new URL('./name.txt', import.meta.url), 'utf8')
  return { mill: { id: '1', name, wheels: 2 }, others: [] as { id: string; name: string }[] }
}
`,
  'mills/name.txt': 'Written mill',
} as const

const READER = {
  'package.json': '{ "name": "reader", "version": "1.0.0", "type": "module", "exports": "./index.js" }',
  'index.js': `export function callReader(hear) {
  new Worker(new URL('./reader-worker.js', import.meta.url), { type: 'module' }).onmessage = hear
}
`,
  'reader-worker.js': `postMessage('package: ' + import.meta.url.includes('/_m/assets/'))\n`,
  'index.d.ts': 'export function callReader(hear: (event: MessageEvent<string>) => void): void\n',
} as const

async function write(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
}

test('are there in a build and in development, on both sides', async () => {
  await using folder = await makeOutsideFolder()
  const archive = await packedArchive(folder)
  const run = async (...command: readonly string[]): Promise<void> => {
    const { code, out, errors } = await folder.run(command.slice(1), { cwd: command[0] ?? '' })
    if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}.\n${out}${errors}`)
  }
  await run('', 'tar', 'xzf', archive)
  await run('', process.execPath, join(folder.path, 'package/bin/millrace.js'), 'new', 'shop', '--package', archive)
  const shop = join(folder.path, 'shop')
  await write(join(shop, 'src/app'), FILES)
  await write(join(shop, 'node_modules/reader'), READER)
  const manifest = JSON.parse(await readFile(join(shop, 'package.json'), 'utf8'))
  await write(shop, {
    'package.json': JSON.stringify({ ...manifest, devDependencies: { ...manifest.devDependencies, reader: '1.0.0' } }),
  })
  await run('shop', 'tsc')
  await run('shop', 'millrace', 'build')
  await rename(join(shop, 'src'), join(shop, 'away'))
  const browser = findChromium() === undefined ? undefined : await launchChromium()
  const look = async (origin: string): Promise<void> => {
    const html = await (await fetch(origin)).text()
    const [, url = ''] = /<img src="([^"]+)"/.exec(html) ?? []
    expect(url).toMatch(/^\/_m\/assets\/mark-\w+\.svg$/)
    expect(html).toContain(`<a href="${url}">`)
    expect(await (await fetch(origin + url)).text()).toBe(MARK)
    expect(await (await fetch(`${origin}/mills/1`)).text()).toContain('<h1>Written mill</h1>')
    if (browser === undefined) return
    await visitExample({ browser, origin }, async (page) => {
      await page.getByRole('listitem').nth(3).waitFor()
      expect(await page.getByRole('listitem').allTextContents()).toEqual([
        'classic: there are 2',
        'module: there are 2',
        'package: true',
        'shared: 3',
      ])
      const width = await page.getByAltText('A mark').evaluate((image: HTMLImageElement) => image.naturalWidth)
      expect(width).toBe(7)
    })
  }
  try {
    {
      await using server = await folder.serve(['millrace', 'serve'], { cwd: 'shop' })
      await look(server.origin)
    }
    await rename(join(shop, 'away'), join(shop, 'src'))
    await rm(join(shop, 'dist'), { recursive: true })
    await using server = await folder.serve(['millrace', 'dev'], { cwd: 'shop' })
    await look(server.origin)
  } finally {
    await browser?.close()
  }
})
