import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { transform, type Loader } from 'esbuild'
import { TSCONFIG } from '../../build/build-options.ts'

const LOADERS: Readonly<Record<string, Loader>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.js': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
  '.jsx': 'jsx',
}

/**
 * Parses saved scripts alone, which takes milliseconds, so that a slip shows long before the build is over.
 * @param keys paths in the project.
 * @throws esbuild's failure for the first file that does not parse.
 */
export async function checkSyntax(root: string, keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    const loader = LOADERS[extname(key)]
    const file = join(root, key)
    if (loader === undefined || !existsSync(file)) continue
    const text = await readFile(file, 'utf8')
    await transform(text, { loader, sourcefile: key, tsconfigRaw: TSCONFIG, logLevel: 'silent' })
  }
}
