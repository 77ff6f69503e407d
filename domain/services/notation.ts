/** The parsed value of a short notation, or what is wrong with it: the end of a sentence that names the field. */
export type Notation<T> = { readonly value: T } | { readonly wrong: string };
