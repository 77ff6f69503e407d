/** A program that ended so often in a row without having stayed up is in a crash loop. */
export const CRASH_LOOP = 5;
