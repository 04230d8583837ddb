/** A fact of the platform's description, by number, and the test that proves it. */
export interface Named {
  fact: number;
  says: string;
  file: string;
  /** The test's title, or a part of it. */
  test: string;
}
