import { readFile } from 'node:fs/promises'

/** A file of the example, ready to be shown. */
export interface ExampleFile {
  readonly name: string
  /** Its code as HTML, highlighted and escaped. */
  readonly html: string
}

const ENTRY = /^ {2}'\/\(site\)\/lab\/mills\/\[id\]': \{\n[^]*?^ {2}\},\n/m

/** The sources of `/lab/mills/[id]`, of which the home page shows what runs. */
async function readSources(): Promise<readonly (readonly [name: string, code: string])[]> {
  const read = (url: URL): Promise<string> => readFile(url, 'utf8')
  const [table, loader, page, form, actions] = await Promise.all([
    read(new URL('../routes.ts', import.meta.url)),
    read(new URL('../lab/mills/loader.server.ts', import.meta.url)),
    read(new URL('../lab/mills/page.tsx', import.meta.url)),
    read(new URL('../lab/mills/power-form.tsx', import.meta.url)),
    read(new URL('../lab/mills/actions.server.ts', import.meta.url)),
  ])
  const entry = ENTRY.exec(table)?.[0] ?? ''
  return [
    ['routes.ts', entry.replaceAll(/^ {2}/gm, '')],
    ['loader.server.ts', loader],
    ['page.tsx', page],
    ['power-form.tsx', form],
    ['actions.server.ts', actions],
  ]
}

async function makeFiles(): Promise<readonly ExampleFile[]> {
  // The highlighter is large: the first visitor of the page or of the handbook loads it.
  const [sources, { preBlock }] = await Promise.all([readSources(), import('../docs/code-block.server.ts')])
  return sources.map(([name, code]) => ({ name, html: preBlock(code.trim(), 'tsx') }))
}

const kept: { files?: Promise<readonly ExampleFile[]> | undefined } = {}

/** The files of the example, in the order in which they are written. Read and highlighted once; a failure is not kept. */
export async function exampleFiles(): Promise<readonly ExampleFile[]> {
  try {
    return await (kept.files ??= makeFiles())
  } catch (error) {
    kept.files = undefined
    throw error
  }
}
