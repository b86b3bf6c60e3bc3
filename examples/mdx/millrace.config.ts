import mdx from '@mdx-js/esbuild'
import { defineConfig } from 'millrace/build'

export default defineConfig({ plugins: { browser: [mdx()], server: [mdx()] } })
