import { readFile } from 'node:fs/promises'
import globalData from '@csstools/postcss-global-data'
import type { Plugin } from 'esbuild'
import { defineConfig } from 'millrace/build'
import postcss, { CssSyntaxError } from 'postcss'
import customMedia from 'postcss-custom-media'

const css: Plugin = {
  name: 'postcss',
  setup({ onLoad }) {
    const processor = postcss([globalData({ files: ['src/app/breakpoints.css'] }), customMedia()])
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      try {
        const { css, messages } = await processor.process(await readFile(path, 'utf8'), { from: path })
        const watchFiles = messages.flatMap(({ type, file }) => (type === 'dependency' ? [String(file)] : []))
        return { contents: css, loader: 'css', watchFiles }
      } catch (error) {
        if (!(error instanceof CssSyntaxError)) return { errors: [{ text: String(error), location: { file: path } }] }
        const { reason, file = path, line = 1, column = 1, source = '' } = error
        const lineText = source.split('\n')[line - 1] ?? ''
        return { errors: [{ text: reason, location: { file, line, column: column - 1, lineText } }] }
      }
    })
  },
}

export default defineConfig({ plugins: { browser: [css] } })
