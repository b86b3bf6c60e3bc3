/** The mark: wide water drawn together into a race. Decoration beside the name, so hidden from screen readers. */
export function LogoMark({ size }: { readonly size: number }) {
  return (
    <svg className="logo-mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path d="M2 5c9 0 10 7 16 7h12" />
      <path d="M2 16h28" />
      <path d="M2 27c9 0 10-7 16-7h12" />
    </svg>
  )
}
