/** The tag of the shell of `/lab/shell/[key]`. */
export function shellTag(key: string): string {
  return `shell:${key}`
}
