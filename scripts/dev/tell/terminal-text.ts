/** Colors, then all other codes but line breaks and tabs. Linear: colors have a bounded length. */
const CODES = /\u001B\[[\d;]{0,20}m|[^\P{Cc}\n\t]/gu

/**
 * A text that may hold what a visitor has sent, such as an error's message, without codes that a terminal obeys: some set
 * its title or the clipboard, and hide lines.
 */
export function terminalText(text: string): string {
  return text.replace(CODES, '')
}
