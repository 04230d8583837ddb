/**
 * A fact of the platform's description, by number, and the test that proves it: its file, its title or the part of it
 * that only this test has, and, where it has a table, the rows that the fact needs.
 */
export type Fact = readonly [fact: number, says: string, file: string, title: string, ...rows: string[]];
