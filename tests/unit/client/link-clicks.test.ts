import { describe, expect, test } from 'vitest'
import { clickTarget, linkUrl, type ClickTarget } from '../../../src/client/core/prefetch/link-clicks.ts'

const PAGE = 'https://here.test/shop/list?page=2#top'

interface FakeLink {
  readonly href: string | null
  readonly target?: string
  readonly rel?: string
  readonly download?: string
  readonly isContentEditable?: boolean
  /** `target` of the document's `<base>`. */
  readonly baseTarget?: string
  readonly localName?: string
}

/** An anchor as far as a click looks at it, with a URL that is resolved as browsers do. */
function fakeAnchor({ href, baseTarget, isContentEditable = false, localName = 'a', ...rest }: FakeLink) {
  const attributes = new Map(Object.entries({ href, ...rest }).filter(([, value]) => value !== null))
  const url = href !== null && URL.canParse(href, PAGE) ? new URL(href, PAGE) : undefined
  const base = baseTarget === undefined ? null : { getAttribute: () => baseTarget }
  return {
    localName,
    href: url?.href ?? href,
    baseURI: PAGE,
    isContentEditable,
    ownerDocument: { querySelector: (selector: string) => (selector === 'base[target]' ? base : null) },
    hasAttribute: (name: string) => attributes.has(name),
    getAttribute: (name: string) => attributes.get(name) ?? null,
  } as unknown as HTMLAnchorElement
}

const UNTOUCHED = { button: 0, defaultPrevented: false, metaKey: false, ctrlKey: false, shiftKey: false, altKey: false }

function targetOf(path: readonly unknown[], event: Partial<typeof UNTOUCHED> = {}): ClickTarget | undefined {
  const whole = { ...UNTOUCHED, ...event, composedPath: () => [...path, { nodeName: '#document' }, {}] }
  return clickTarget(whole as unknown as MouseEvent, new URL(PAGE))
}

const click = (...args: Parameters<typeof targetOf>): string | undefined => targetOf(...args)?.url.href

describe('a click on a link is a navigation of the application', () => {
  test.for([
    ['to a path', { href: '/about' }, 'https://here.test/about'],
    ['to a relative path', { href: 'item?x=1#y' }, 'https://here.test/shop/item?x=1#y'],
    ['to the same page, which means: anew', { href: '/shop/list?page=2' }, 'https://here.test/shop/list?page=2'],
    ['to a fragment of another query', { href: '?page=3#top' }, 'https://here.test/shop/list?page=3#top'],
    ['with a target that is this tab', { href: '/a', target: '_SELF' }, 'https://here.test/a'],
    [
      'with an empty target, whatever the base says',
      { href: '/a', target: '', baseTarget: '_blank' },
      'https://here.test/a',
    ],
    ['to a path that begins alike', { href: '/_mill/healthz' }, 'https://here.test/_mill/healthz'],
    ['with another rel', { href: '/a', rel: 'nofollow noexternal' }, 'https://here.test/a'],
    ['with a base for this tab', { href: '/a', baseTarget: '_self' }, 'https://here.test/a'],
  ] as const)('%s', ([, link, href]) => {
    expect(click([fakeAnchor(link)])).toBe(href)
  })

  test('in a drawing, where a href is an object that nobody has resolved', () => {
    const { localName, hasAttribute, getAttribute, ownerDocument, baseURI } = fakeAnchor({ href: 'item' })
    const drawn = { localName, hasAttribute, getAttribute, ownerDocument, baseURI, href: { baseVal: 'item' } }
    expect(click([drawn])).toBe('https://here.test/shop/item')
  })
})

describe('a click on a link is left to the browser', () => {
  test.for([
    ['without a href', { href: null }],
    ['to another origin', { href: 'https://there.test/' }],
    ['to another port', { href: 'https://here.test:8443/' }],
    ['to another protocol', { href: 'http://here.test/shop' }],
    ['that runs script', { href: 'javascript:alert(1)' }],
    ['that writes mail', { href: 'mailto:a@here.test' }],
    ['to a blob, which has this origin', { href: 'blob:https://here.test/1b9d6bcd' }],
    ['with a password in it, which no history entry may have', { href: 'https://me:secret@here.test/' }],
    ['that is no URL', { href: 'https://[' }],
    ['with a target', { href: '/a', target: '_blank' }],
    ['with a named target', { href: '/a', target: 'frame' }],
    ['with a target by the base', { href: '/a', baseTarget: '_blank' }],
    ['that downloads', { href: '/a', download: '' }],
    ['that is external', { href: '/a', rel: 'noopener External' }],
    ['to a file of the build', { href: '/_m/assets/mill-1b9d6bcd.pdf' }],
    ['to what the server answers by itself', { href: '/healthz' }],
    ['inside of edited text', { href: '/a', isContentEditable: true }],
  ] as const)('%s', ([, link]) => {
    expect(click([fakeAnchor(link)])).toBeUndefined()
  })

  test.for([
    ['the middle button', { button: 1 }],
    ['a command key', { metaKey: true }],
    ['a control key', { ctrlKey: true }],
    ['a shift key', { shiftKey: true }],
    ['an option key', { altKey: true }],
    ['somebody who has dealt with it', { defaultPrevented: true }],
  ] as const)('by %s', ([, event]) => {
    expect(click([fakeAnchor({ href: '/about' })])).toBe('https://here.test/about')
    expect(click([fakeAnchor({ href: '/about' })], event)).toBeUndefined()
  })
})

test.for([
  ['#other', true],
  ['#', true],
  ['/shop/list?page=2#top', true],
  ['/shop/list?page=2', false],
  ['/shop/list#top', false],
  ['/shop?page=2#top', false],
] as const)('a click on a link to %s stays within the page on screen: %s', ([href, isWithin]) => {
  expect(targetOf([fakeAnchor({ href })])?.isWithin).toBe(isWithin)
})

describe('the link that counts', () => {
  test('is the innermost around what was clicked, also inside of a shadow tree', () => {
    const text = { localName: 'span', hasAttribute: () => true }
    const [inner, outer] = [fakeAnchor({ href: '/inner' }), fakeAnchor({ href: '/outer' })]
    expect(click([text, inner, { nodeName: '#document-fragment' }, outer])).toBe('https://here.test/inner')
  })

  test('has a href', () => {
    expect(click([fakeAnchor({ href: null }), fakeAnchor({ href: '/outer' })])).toBe('https://here.test/outer')
    expect(click([fakeAnchor({ href: '/area', localName: 'area' })])).toBeUndefined()
  })

  test('may lead to a fragment of this page and still be worth fetching ahead', () => {
    expect(linkUrl(fakeAnchor({ href: '#other' }), new URL(PAGE))?.hash).toBe('#other')
  })
})
