import type { Page } from 'playwright-core'

/**
 * What of a page is not styled as its author meant it, by the rules that the browser applies and the styles it computes:
 * classes that no rule names, and text in the browser's own typeface. Empty for a page that has its styles.
 */
export function unstyledParts(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const faults: string[] = []
    // What is fetched ahead is switched off until its page is shown: a sheet that does not apply is no fault by itself.
    const applied = [...document.styleSheets, ...document.adoptedStyleSheets].filter(
      (sheet) => !sheet.disabled && matchMedia(sheet.media.mediaText).matches,
    )
    const named = new Set<string>()
    const collect = (rules: CSSRuleList): void => {
      for (const rule of rules) {
        if (rule instanceof CSSStyleRule) {
          for (const [, name = ''] of rule.selectorText.matchAll(/\.((?:[\w-]|\\.)+)/g)) named.add(name)
        }
        if ('cssRules' in rule) collect((rule as CSSGroupingRule).cssRules)
      }
    }
    for (const sheet of applied) collect(sheet.cssRules)
    for (const element of document.body.querySelectorAll('[class]')) {
      if (element.closest('pre') !== null) continue // the highlighter names more than the theme colours
      for (const name of element.classList) if (!named.has(name)) faults.push(`no rule for .${name}`)
    }

    const frame = document.createElement('iframe')
    document.body.append(frame)
    const bare = frame.contentDocument?.documentElement
    const ownTypeface = bare === undefined || bare === null ? '' : getComputedStyle(bare).fontFamily
    frame.remove()
    for (const element of document.querySelectorAll('body, h1')) {
      const { fontFamily } = getComputedStyle(element)
      if (fontFamily === ownTypeface) faults.push(`${element.localName} is in the browser's own ${fontFamily}`)
    }
    return [...new Set(faults)]
  })
}
