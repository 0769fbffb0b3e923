// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

/// Hands on the coins it is paid, in equal parts: each part is an internal transfer.
contract Splitter {
    function split(address payable[] calldata to) external payable {
        uint256 part = msg.value / to.length;
        for (uint256 i = 0; i < to.length; i++) {
            (bool sent,) = to[i].call{value: part}("");
            require(sent, "refused");
        }
    }
}
