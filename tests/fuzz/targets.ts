import { BodyError } from '../../src/server/http/body/body-error.ts'
import { formObject } from '../../src/server/http/body/form-object.ts'
import { createMultipartParser } from '../../src/server/http/body/multipart-parser.ts'
import { readPartHead } from '../../src/server/http/body/part-head.ts'
import { readUrlencoded } from '../../src/server/http/body/urlencoded-form.ts'
import { EnvelopeError, parseEnvelope, serializeEnvelope } from '../../src/server/reports/intake/envelope.ts'
import { chooseJudged, filterItems } from '../../src/server/reports/intake/filter-envelope.ts'
import { readPolicyReport } from '../../src/server/reports/relay/policy-report.ts'
import { isValidHost, judgeTarget, splitAbsoluteTarget } from '../../src/server/http/request-target.ts'
import { createValueDecoder } from '../../src/shared/protocol/decode-values.ts'
import { RouteDataError } from '../../src/shared/protocol/decode-route-data.ts'
import { decodeSegmentFiles } from '../../src/shared/protocol/segment-files.ts'
import { loadExpressionEngine } from '../../src/server/routes/decide/expression-engine.ts'
import { compileRules } from '../../src/shared/rules/compile-rules.ts'
import { redirectFor } from '../../src/shared/rules/redirect-for.ts'
import { RuleError } from '../../src/shared/rules/rule-error.ts'
import { safeLocation } from '../../src/shared/safe-location.ts'
import { readAnswer } from '../unit/protocol/read-answer.ts'
import { pieceStream } from '../unit/protocol/text-stream.ts'
import { ruleRequest } from '../unit/rules/rule-vectors.ts'

/** A part of the server, or of the browser, that reads what others have written. */
export interface FuzzTarget {
  /** Pieces that mean something to it. */
  readonly words: readonly string[]
  readonly seeds: readonly string[]
  /**
   * Reads an input.
   * @throws {Error} for what must not be: a failure of another kind than the one that is documented, or a result that
   * breaks a promise.
   */
  run(input: Buffer): void | Promise<void>
}

/** A promise that was broken. */
export class BrokenPromiseError extends Error {
  override readonly name = 'BrokenPromiseError'
}

function promise(holds: boolean, what: string): void {
  if (!holds) throw new BrokenPromiseError(what)
}

/** Runs work that may fail in one way. @returns `undefined` where it did. */
function allowing<Result>(error: abstract new (...args: never[]) => Error, work: () => Result): Result | undefined {
  try {
    return work()
  } catch (thrown) {
    if (thrown instanceof error) return undefined
    throw thrown
  }
}

const targetOf = (input: Buffer): string => input.toString('latin1') // as Node hands it over

const requestTarget: FuzzTarget = {
  words: [
    '/',
    '\\',
    '//',
    '..',
    '/.',
    '%2e',
    '%2F',
    '%5c',
    '%00',
    '%',
    '?',
    '#',
    ':',
    '@',
    '[::1]',
    'http://',
    '\u00e4',
  ],
  seeds: ['/', '/a/b?c=d', '/a/../b', '/%C3%A4', 'http://a.test:80/x', '/_m/data/', '/a//b/', '\\a', 'a.test:3000'],
  run(input) {
    const text = targetOf(input)
    isValidHost(text)
    const target = splitAbsoluteTarget(text)?.target ?? text
    const verdict = judgeTarget(target)
    if (verdict.kind === 'redirect') {
      promise(/^\/(?![/\\])[\x21-\x7e]*$/.test(verdict.location), `a redirect to ${JSON.stringify(verdict.location)}`)
      const next = judgeTarget(verdict.location)
      promise(next.kind !== 'redirect', 'a redirect that leads to another one')
    }
    if (verdict.kind !== 'ok') return
    const { pathname, search, dotSegments } = verdict
    promise(/^\/(?![/\\])[\x21-\x7e]*$/.test(pathname), `the path ${JSON.stringify(pathname)}`)
    promise(!/[/\\]{2}|[?#\\]/.test(pathname), `the path ${JSON.stringify(pathname)}`)
    decodeURIComponent(pathname)
    const url = new URL(pathname + search, 'http://a.test')
    promise(url.host === 'a.test', `the host of ${JSON.stringify(pathname)}`)
    if (!dotSegments) promise(url.pathname === pathname.replaceAll(/["<>^`{}]/g, encodeURIComponent), 'another path')
  },
}

const rules: FuzzTarget = {
  words: [
    '/',
    ':a',
    ':a*',
    ':a+',
    ':a?',
    '(',
    ')',
    '(\\d+)',
    '(.*)',
    '(?:',
    '|',
    '[a-z]',
    '{',
    '}',
    '\\',
    '\n',
    '%2F',
    'https://',
    '?x=:a',
    '#:a',
    '//',
    '(?!',
    '(?<a>',
    '(?i:',
    '\\s',
    '{1001}',
    '[^',
    '..%2f',
  ],
  seeds: [
    '/a/:id\n/b/:id\n/a/7',
    '/:a*\nhttps://x.test/:a*\n/b/c',
    '/:a(\\d{1,3})-:b?\n/?q=:a\n/12-',
    '/(.*)\n/x\n/%2F',
    '/((?!api).*)\n/:n\n/b?q=12\n(?<n>\\d{1,3})',
    '/:a-to-:b\nhttp://x.test/:b/:a\n/1-to-2?q=bot\n(?!.*(?:a|b)+c).*',
  ],
  run(input) {
    const [source = '', destination = '', path = '/', value] = input.toString('utf8').split('\n')
    const verdict = judgeTarget(path)
    if (verdict.kind !== 'ok') return
    const has = value === undefined ? [] : [{ type: 'query', key: 'q', value } as const]
    const compiled = allowing(RuleError, () =>
      compileRules({ redirects: [{ source, destination, permanent: false, has }] }, loadExpressionEngine),
    )
    if (compiled === undefined) return
    const found = redirectFor(compiled, ruleRequest(verdict.pathname + verdict.search))
    if (found === undefined || found.fault !== undefined) return
    const external = /^https?:\/\//i.test(destination)
    promise(safeLocation(found.location, { external }) !== undefined, `the location ${JSON.stringify(found.location)}`)
    // Where another site is named, only its author knows whether it exists.
    if (external) return
    const { host } = new URL(found.location, 'http://a.test')
    promise(host === 'a.test', `the host of ${JSON.stringify(found.location)}`)
  },
}

const HEAD = '{"v":1,"build":"b","route":"/","params":{},"scope":"path"}\n'

const protocol: FuzzTarget = {
  words: [
    '[',
    ']',
    '{',
    '}',
    ',',
    '"',
    '[0]',
    '[-1]',
    '"Promise"',
    '"Map"',
    '"Set"',
    '"Date"',
    '"RegExp"',
    '"BigInt"',
    '"Error"',
    '"URL"',
    '\n',
    '"segment":',
    '"data":',
    '"stream":0',
    '{"chunk":0,"text":"',
    '"}',
    '{"done":true}\n',
    '__proto__',
    HEAD,
  ],
  seeds: [
    '[[0],{"data":[1]},{"a":[2]},["Promise"]]\n[2,1,5]\n',
    '[[0],["Map"],["Date","0"],["BigInt","7"]]\n',
    `${HEAD}{"segment":"/#page","data":{"a":1}}\n{"done":true}\n`,
    `${HEAD}{"segment":"/#page","stream":0}\n{"chunk":0,"text":"[[0],1]\\n"}\n{"end":0}\n{"done":true}\n`,
    '{"v":1,"files":["a.js","b.css"],"segments":{"/":{"page":[0,1]}}}',
  ],
  async run(input) {
    const text = input.toString('utf8')
    const decoder = createValueDecoder()
    try {
      decoder.push(text.slice(0, text.length / 2))
      decoder.push(text.slice(text.length / 2))
      decoder.end()
    } catch (error) {
      promise(error instanceof Error, 'something thrown that is no Error')
      decoder.fail(error)
    }
    const answer = await readAnswer(pieceStream([text]))
    promise(
      answer.failed === undefined || answer.failed instanceof RouteDataError,
      `a failure: ${String(answer.failed)}`,
    )
    try {
      decodeSegmentFiles(JSON.parse(text)).of('/', 'page')
    } catch (error) {
      promise(error instanceof Error, 'something thrown that is no Error')
    }
    promise(Object.keys(Object.prototype).length === 0, 'a changed prototype')
  },
}

const envelope: FuzzTarget = {
  words: [
    '\n',
    '{}',
    '{"type":"event"}\n',
    '{"type":"transaction"}\n',
    '{"type":"span"}\n',
    '"length":',
    '{"type":"attachment","length":3}\n',
    '"item_count":',
    '"exception":{"values":[{"type":"RedirectSignal"}]}',
    '"spans":[',
    '"csp-report":',
    '"blocked-uri":"',
  ],
  seeds: [
    '{"dsn":"https://a@b.test/1"}\n{"type":"event"}\n{"message":"x"}\n',
    '{}\n{"type":"attachment","length":3}\na\nb\n{"type":"span","item_count":1}\n{"items":[{}]}\n',
    '{}\n{"type":"transaction"}\n{"spans":[{"op":"http.client"}],"contexts":{"trace":{"status":"ok"}}}',
    '{"csp-report":{"effective-directive":"img-src","blocked-uri":"data"}}',
    '[{"type":"csp-violation","body":{"effectiveDirective":"img-src"}}]',
  ],
  run(input) {
    readPolicyReport(input.toString('utf8'))
    const parsed = allowing(EnvelopeError, () => parseEnvelope(input))
    if (parsed === undefined) return
    const again = parseEnvelope(serializeEnvelope(parsed))
    promise(again.items.length === parsed.items.length, 'an item more or less after a round trip')
    for (const [at, { payload, type }] of parsed.items.entries()) {
      promise(again.items[at]?.payload.equals(payload) === true, 'a payload changed by a round trip')
      promise(again.items[at]?.type === type, 'a type changed by a round trip')
    }
    promise(
      filterItems(parsed.items, chooseJudged(parsed.items).judged, { relayPath: '/relay', keepsErrors: false })
        .length <= parsed.items.length,
      'an item out of nothing',
    )
  },
}

const form: FuzzTarget = {
  words: [
    '--x',
    '--x--',
    '\r\n',
    '\r\n\r\n',
    'Content-Disposition: form-data; name="',
    '"',
    '; filename="',
    "filename*=UTF-8''",
    'Content-Type: text/plain',
    '&',
    '=',
    '%',
    '+',
    '[',
    ']',
    '.',
    '__proto__',
    '$ACTION_',
  ],
  seeds: [
    '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n',
    '--x\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nb\r\n--x--',
    'a=b&c=d%20e&a.b=1&c[0]=2',
  ],
  run(input) {
    const whole = readParts(input, input.length)
    for (const cut of [1, Math.floor(input.length / 2)]) {
      promise(readParts(input, cut) === whole, `another reading with the body cut at ${cut}`)
    }
    const fields = allowing(BodyError, () => readUrlencoded(input.toString('latin1')))
    if (fields === undefined) return
    allowing(BodyError, () => formObject(fields))
    promise(Object.keys(Object.prototype).length === 0, 'a changed prototype')
  },
}

/** All that a body says, as text. */
function readParts(body: Buffer, cut: number): string {
  const parser = createMultipartParser('x')
  let said = ''
  try {
    for (const chunk of [body.subarray(0, cut), body.subarray(cut)]) {
      for (const event of parser.push(chunk)) {
        if (event.kind === 'data') said += event.bytes.toString('latin1')
        if (event.kind === 'part') {
          const head = allowing(BodyError, () => readPartHead(event.head))
          said += head === undefined ? '<refused>' : `<${head.name} ${head.filename ?? ''} ${head.type}>`
        }
      }
    }
    parser.finish()
    return said
  } catch (error) {
    // What was said before it was refused depends on the cut; that it was, does not.
    if (error instanceof BodyError) return `refused ${error.status}`
    throw error
  }
}

/** By name. */
export const FUZZ_TARGETS: Readonly<Record<string, FuzzTarget>> = {
  'request-target': requestTarget,
  rules,
  protocol,
  envelope,
  form,
}
