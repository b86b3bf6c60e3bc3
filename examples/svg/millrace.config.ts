import { readFile } from 'node:fs/promises'
import jsx from '@svgr/plugin-jsx'
import { transform } from '@svgr/core'
import type { Plugin } from 'esbuild'
import { defineConfig } from 'millrace/build'

/** `import Mark from './mark.svg?react'` is a component, `'./mark.svg'` stays the file's URL. */
const svg: Plugin = {
  name: 'svg',
  setup({ onLoad }) {
    onLoad({ filter: /\.svg$/ }, async ({ path, suffix }) => {
      if (suffix !== '?react') return undefined
      const contents = await transform(await readFile(path, 'utf8'), { plugins: [jsx], jsxRuntime: 'automatic' })
      return { contents, loader: 'jsx' }
    })
  },
}

export default defineConfig({ plugins: { browser: [svg], server: [svg] } })
