/** An application with packages of the corpus, installed from the packed archive in a folder outside of the project. */
import { cp, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Browser } from 'playwright-core'
import { expect } from 'vitest'
import { writeFiles } from '../linked-project.ts'
import { visitExample } from '../example-pages.ts'
import type { OutsideFolder, OutsideServer } from '../installed-application.ts'
import { corpusFiles } from './corpus-files.ts'
import type { CorpusEntry } from './corpus-entry.ts'

const PROJECT = resolve(import.meta.dirname, '../../..')

/** The application's folder in the other one. */
export const CORPUS_FOLDER = 'corpus'

/**
 * Makes and installs it.
 * @param archive path of the packed package.
 * @throws {Error} with what npm has said.
 */
export async function installCorpus(
  folder: OutsideFolder,
  archive: string,
  entries: readonly CorpusEntry[],
): Promise<void> {
  const there = join(folder.path, CORPUS_FOLDER)
  await cp(join(PROJECT, 'templates/minimal'), there, { recursive: true })
  await writeFiles(there, {
    ...corpusFiles(entries),
    'package.json': JSON.stringify({
      name: CORPUS_FOLDER,
      private: true,
      type: 'module',
      allowScripts: Object.fromEntries(entries.flatMap(({ scripts = [] }) => scripts.map((name) => [name, true]))),
    }),
  })
  const { devDependencies } = JSON.parse(await readFile(join(PROJECT, 'package.json'), 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }
  const pinned = (names: readonly string[]): string[] => names.map((name) => `${name}@${devDependencies[name] ?? '*'}`)
  const wanted = new Set(entries.flatMap(({ install }) => install))
  await install(folder, [`file:${archive}`, ...pinned(['react', 'react-dom']), ...wanted])
  await install(folder, ['--save-dev', ...pinned(TOOLS)])
}

const TOOLS = [
  '@types/express',
  '@types/node',
  '@types/react',
  '@types/react-dom',
  'esbuild',
  'oxc-parser',
  'oxc-transform',
  'parse5',
  'typescript',
] as const

async function install(folder: OutsideFolder, args: readonly string[]): Promise<void> {
  const command = ['npm', 'install', '--no-audit', '--no-fund', '--prefer-offline', ...args]
  const { code, out, errors } = await folder.run(command, { cwd: CORPUS_FOLDER })
  if (code !== 0) throw new Error(`npm could not install the packages.\n${out}${errors}`)
}

/** Compiles its types, and builds it. */
export async function expectBuilt(folder: OutsideFolder): Promise<void> {
  expect(await folder.run(['tsc'], { cwd: CORPUS_FOLDER })).toEqual({ code: 0, out: '', errors: '' })
  const { code, errors } = await folder.run(['millrace', 'build'], { cwd: CORPUS_FOLDER })
  expect([code, errors]).toEqual([0, ''])
}

/**
 * Reads each page as a document, and visits it in a browser, where there is one.
 * @returns what is wrong, by the name of the package.
 */
export async function faultsOf(
  entries: readonly CorpusEntry[],
  { origin }: OutsideServer,
  browser: Browser | undefined,
): Promise<Readonly<Record<string, string>>> {
  const faults: Record<string, string> = {}
  for (const entry of entries) {
    try {
      await expectPage(entry, origin, browser)
    } catch (error) {
      faults[entry.name] = error instanceof Error ? error.message : String(error)
    }
  }
  return faults
}

async function expectPage({ name, shows }: CorpusEntry, origin: string, browser: Browser | undefined): Promise<void> {
  const path = `/${name}`
  expect((await fetch(origin + path)).status).toBe(200)
  if (browser === undefined) return
  const texts = async (javaScript: boolean): Promise<string> => {
    let text = ''
    await visitExample({ browser, origin, path, javaScript }, async (page) => {
      if (javaScript) await page.waitForFunction(() => history.state?.millrace !== undefined)
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
      text = (await page.locator('main').textContent()) ?? ''
    })
    return text
  }
  const [sent, hydrated] = [await texts(false), await texts(true)]
  for (const shown of shows) expect(sent).toContain(shown)
  // What ClientOnly holds back is not in both.
  for (const shown of shows.filter((one) => !one.endsWith('follows'))) expect(hydrated).toContain(shown)
}
