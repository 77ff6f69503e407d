/** A file, folder or symlink of the tree; has a link to its parent so that `..` can be resolved. */
export interface TreeNode {
  readonly name: string;
  readonly parent: TreeNode | undefined;
  readonly kind: "file" | "folder" | "link";
  readonly children: Map<string, TreeNode>;
  /** Target of a symlink, as written in the archive. */
  target: string;
}
