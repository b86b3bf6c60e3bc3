import type { RegExpParser } from '@eslint-community/regexpp'
import type { RE2JS } from 're2js'

/** The libraries for expressions: one parses the syntax of JavaScript, one matches in linear time. */
export interface ExpressionEngine {
  readonly RegExpParser: typeof RegExpParser
  readonly RE2JS: typeof RE2JS
}

/** Called if a rule has an expression, so that other servers do not load the libraries. */
export type LoadEngine = () => ExpressionEngine
