import type { RegExpParser } from '@eslint-community/regexpp'
import type { RE2JS } from 're2js'

/** The libraries behind expressions: one that reads the syntax of JavaScript, one that matches in linear time. */
export interface ExpressionEngine {
  readonly RegExpParser: typeof RegExpParser
  readonly RE2JS: typeof RE2JS
}

/** Called when a rule has an expression, so that a server without one does not load the libraries. */
export type LoadEngine = () => ExpressionEngine
