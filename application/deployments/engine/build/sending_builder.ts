import type { ImageBuilder } from "../../../../ports/deployments/image_builder.ts";
import type { ImageTransfer } from "../../../../ports/deployments/image_transfer.ts";
import type { Installation } from "../../../../ports/identity/installation.ts";
import type { ReleaseImages } from "../../../../ports/deployments/release_images.ts";

/** Where images are built, and where they go. */
interface SendingPorts {
  readonly installation: Pick<Installation, "noteContainers">;
  /** Builds on this machine. */
  readonly imageBuilder: ImageBuilder;
  readonly imageTransfer: ImageTransfer;
  /** Keeps images on the server. */
  readonly releaseImages: ReleaseImages;
}

/** Builds images on this machine and sends them to a server, where they are kept. */
export function sendingBuilder({
  imageBuilder,
  imageTransfer,
  installation,
  releaseImages,
}: SendingPorts): ImageBuilder {
  return {
    features: () => imageBuilder.features(),
    identify: (buildPlan) => imageBuilder.identify(buildPlan),
    async build(request) {
      // Its images on this machine are cleaned up like those that run here.
      await installation.noteContainers();
      const built = await imageBuilder.build(request);
      const { signal } = request;
      await imageTransfer.send(built.image, { signal, log: (line) => void request.log(line, "stdout") });
      await request.confirm?.();
      await releaseImages.keep(built.image, request);
      return built;
    },
  };
}
