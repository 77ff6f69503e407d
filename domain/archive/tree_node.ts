/** A file, folder or link of the tree; knows its folder, so that `..` can be followed. */
export interface TreeNode {
  readonly name: string;
  readonly parent: TreeNode | undefined;
  readonly kind: "file" | "folder" | "link";
  readonly children: Map<string, TreeNode>;
  /** Where a link points, as written in the archive. */
  target: string;
}
