// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

interface Moved {
    function transferFrom(address from, address to, uint256 valueOrId) external;
}

/// Several movements of the caller's tokens in one transaction.
contract Mover {
    /// Two transfers that are identical to the last byte.
    function identicalTransfers(address token, address to, uint256 value) external {
        Moved(token).transferFrom(msg.sender, to, value);
        Moved(token).transferFrom(msg.sender, to, value);
    }

    /// Several NFTs at once.
    function sweep(address token, address to, uint256[] calldata ids) external {
        for (uint256 i = 0; i < ids.length; i++) Moved(token).transferFrom(msg.sender, to, ids[i]);
    }
}
