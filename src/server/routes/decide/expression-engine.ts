import { createRequire } from 'node:module'
import type { ExpressionEngine } from '../../../shared/rules/expression-engine.ts'

const require = createRequire(import.meta.url)

/** Loads the matcher for expressions in rules: 20 ms and some megabytes, only for servers with such rules. */
export function loadExpressionEngine(): ExpressionEngine {
  const { RegExpParser } = require('@eslint-community/regexpp') as typeof import('@eslint-community/regexpp')
  const { RE2JS } = require('re2js') as typeof import('re2js')
  return { RegExpParser, RE2JS }
}
