import { hash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'

const FOLDER = resolve(import.meta.dirname, '../fixtures/fuzz-corpus')
const NAME_LENGTH = 16

/** Inputs that are kept for a target, in an order that does not change. */
export async function readCorpus(target: string): Promise<Buffer[]> {
  const folder = join(FOLDER, target)
  const names = await readdir(folder).catch(() => [])
  return Promise.all(names.toSorted().map((name) => readFile(join(folder, name))))
}

/** Keeps an input; named by its content, so equal ones are one. */
export async function keepInput(target: string, input: Buffer): Promise<string> {
  const folder = join(FOLDER, target)
  await mkdir(folder, { recursive: true })
  const path = join(folder, hash('sha256', input, 'hex').slice(0, NAME_LENGTH))
  await writeFile(path, input)
  return path
}
