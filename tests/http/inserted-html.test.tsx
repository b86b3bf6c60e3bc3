import {
  Component,
  createContext,
  forwardRef,
  Fragment,
  lazy,
  memo,
  Suspense,
  use,
  useRef,
  type ReactNode,
} from 'react'
import request from 'supertest'
import { describe, expect, test } from 'vitest'
import { useNonce, useServerInsertedHTML } from '../../src/client/hooks/use-server-document.ts'
import { moduleOf, page, tinyApp } from '../support/tiny-app.tsx'

const PUBLIC = { headers: [{ source: '/:path*', headers: [{ key: 'Cache-Control', value: 'public, max-age=60' }] }] }

/** Collects rules as CSS-in-JS libraries do: those that are new since the last call. */
function Rules({ rules, children }: { readonly rules: string[]; readonly children: ReactNode }) {
  useServerInsertedHTML(() => (rules.length === 0 ? null : <style data-rules="">{rules.splice(0).join(';')}</style>))
  return children
}

const never = new Promise<{ default: () => ReactNode }>(() => {})

const Asking = () => <p data-nonce={useNonce()}>Asked</p>

describe('elements that components insert', () => {
  test('are in the head of a whole document, which may still be shared', async () => {
    const Page = () => (
      <Rules rules={['early']}>
        <h1>Whole</h1>
      </Rules>
    )
    const { app } = tinyApp({ routes: { '/': { page: page(Page) } }, rules: PUBLIC })
    const { text, headers } = await request(app).get('/').expect(200)
    expect(text).toMatch(/<head>.*<style data-rules="">early<\/style>.*<\/head>.*<h1>Whole/)
    expect(headers['cache-control']).toBe('public, max-age=60')
  })

  test('precede the part of a streamed document that they were collected for, each once', async () => {
    const late = Promise.withResolvers<string>()
    const Late = ({ rules, value }: { rules: string[]; value: Promise<string> }) => {
      const text = use(value)
      rules.push('late')
      return <b>{text}</b>
    }
    const Page = ({ data }: { data: { value: Promise<string> } }) => {
      const rules = ['early']
      return (
        <Rules rules={rules}>
          <Suspense fallback="waiting">
            <Late rules={rules} value={data.value} />
          </Suspense>
        </Rules>
      )
    }
    const loader = moduleOf({ loader: () => ({ value: late.promise }) })
    const { app } = tinyApp({ routes: { '/': { page: page(Page), loader } } })
    const sent = request(app).get('/').buffer(true).expect(200)
    sent.parse((response, done) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (part: string) => {
        text += part
        if (text.includes('waiting')) late.resolve('arrived')
      })
      response.on('end', () => done(null, text))
    })
    const { body } = await sent
    expect(body).toMatch(
      /<style data-rules="">early<\/style>.*<\/head>.*waiting.*<style data-rules="">late<\/style>.*arrived/s,
    )
    expect(body.match(/data-rules/g)).toHaveLength(2)
  })

  test('end no <style> or <script> early by a text of a visitor, whatever makes the element', async () => {
    const text = 'p{color:red</style></StYle></noscript></script><!--<script><meta http-equiv=refresh content=0>}'
    const html = { __html: text }
    const Rules = () => <style data-by="function" dangerouslySetInnerHTML={html} />
    const Memo = memo(() => <Rules />)
    const Lazy = lazy(() => never)
    class Class extends Component {
      override render() {
        return [<style key="1" data-by="class" dangerouslySetInnerHTML={html} />, <Rules key="2" />]
      }
    }
    const Forward = forwardRef<HTMLStyleElement>((props, ref) => (
      <style {...props} ref={ref} data-by="forwardRef" dangerouslySetInnerHTML={html} />
    ))
    const Value = createContext('none')
    const elements = (
      <>
        <style data-by="child">{text}</style>
        <style data-by="children">{['a{}', text]}</style>
        <style data-by="html" dangerouslySetInnerHTML={html} nonce="of-the-library" />
        <Fragment>
          <style data-by="fragment" dangerouslySetInnerHTML={html} />
        </Fragment>
        <noscript>
          <style data-by="noscript" dangerouslySetInnerHTML={html} />
          <style data-by="noscript child">{text}</style>
        </noscript>
        <Memo />
        <Class />
        <Forward />
        <Value value="context">
          <Value.Consumer>{(value) => <style data-by={value} dangerouslySetInnerHTML={html} />}</Value.Consumer>
        </Value>
        <Suspense fallback={<style data-by="fallback" dangerouslySetInnerHTML={html} />}>
          <Lazy />
        </Suspense>
        <script data-by="script" dangerouslySetInnerHTML={html} />
      </>
    )
    const Page = () => {
      const sent = useRef(false)
      useServerInsertedHTML(() => (sent.current ? null : ((sent.current = true), elements)))
      return <h1>Styled</h1>
    }
    const { app } = tinyApp({ routes: { '/': { page: page(Page) } } })
    const { text: sent } = await request(app).get('/').expect(200)
    const shown = [...sent.matchAll(/<(style|script) data-by="([^"]+)"[^>]*>(.*?)<\/\1>/gis)]
    expect(shown.map(([, , by]) => by)).toEqual(
      'child,children,html,fragment,noscript,noscript child,function,class,function,forwardRef,context,fallback,script'.split(
        ',',
      ),
    )
    for (const [, tag, , content] of shown) {
      expect(content).toMatch(/<meta http-equiv=refresh content=0>\}$/)
      expect(content).not.toMatch(tag === 'style' ? /<\// : /<\/?script/i)
    }
    expect(sent).toContain('data-by="html" nonce="of-the-library"')
  })

  test('are left out where collecting fails, and the failure is logged', async () => {
    const Failing = () => {
      useServerInsertedHTML(() => {
        throw new Error('no rules today')
      })
      return <h1>Plain</h1>
    }
    const { app, logs } = tinyApp({ routes: { '/': { page: page(Failing) } } })
    const { text } = await request(app).get('/').expect(200)
    expect(text).toContain('<h1>Plain</h1>')
    expect(JSON.stringify(logs)).toContain('no rules today')
  })
})

describe('the nonce', () => {
  test('is that of the policy, and makes a document private that a rule calls public', async () => {
    const { app } = tinyApp({ routes: { '/': { page: page(Asking) } }, rules: PUBLIC })
    const { text, headers } = await request(app).get('/').expect(200)
    const [, nonce = 'none'] = /data-nonce="([^"]+)"/.exec(text) ?? []
    expect(headers['content-security-policy']).toContain(`'nonce-${nonce}'`)
    expect(headers['cache-control']).toBe('private, no-cache')
  })

  test('is another one for each visitor, and does not change the ETag', async () => {
    const { app } = tinyApp({ routes: { '/': { page: page(Asking) } } })
    const [one, other] = [await request(app).get('/'), await request(app).get('/')]
    expect(one.text).not.toBe(other.text)
    expect(one.headers['etag']).toBe(other.headers['etag'])
    await request(app).get('/').set('If-None-Match', String(one.headers['etag'])).expect(304)
  })
})
