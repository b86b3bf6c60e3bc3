/** Says a number: it is part of the result, whether that holds or not. */
export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}
