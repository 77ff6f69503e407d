/** What a short notation means, or what is wrong with it: the end of a sentence that says where it stands. */
export type Notation<T> = { readonly value: T } | { readonly wrong: string };
